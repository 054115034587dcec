"""One replica set with a connection of its own to each node, members and spares."""

from collections.abc import Callable, Sequence
from typing import Self

from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.configuring import Changed, SetConfiguration
from brownout.databases.mongodb.link import Link
from brownout.databases.mongodb.membership import Document
from brownout.databases.mongodb.view import View, look, without
from brownout.databases.panel import Panel
from brownout.inventory.model import Cluster, Node

__all__ = ["POLL_PATIENCE_S", "Connected"]

#: What is asked over and over need not wait for a member that hangs; the next time is soon.
POLL_PATIENCE_S = 0.5


class Connected:
    """Asks each member directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._access = access(cluster)
        self._timeout_s = cluster.connection.timeout_s
        self._links = {n.name: Link(n, self._access, self._timeout_s) for n in cluster.every}
        self._panel = Panel(
            cluster.nodes,
            lambda node: look(node, self._links[node.name]),
            without,
            len(cluster.every),
        )
        self._configuration = SetConfiguration(
            cluster, self._links, lambda: self._panel.views(POLL_PATIENCE_S)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._panel.close()
        for link in self._links.values():
            link.close()

    def expect(self, nodes: Sequence[Node]) -> None:
        """Take these nodes for the set's members from now on."""
        self._panel.expect(nodes)

    def configure(self, step: Callable[[Document], Document | None]) -> Changed:
        """Give the set what `step` makes of its configuration; None where it has it already."""
        return self._configuration.change(step)

    def _views(self) -> list[View]:
        """Ask every member and wait for each one's answer or its own time limit."""
        return self._panel.views(3 * self._timeout_s)
