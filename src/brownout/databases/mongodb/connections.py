"""One replica set with a connection of its own to each node, members and spares."""

from collections.abc import Callable, Sequence

from brownout.databases.mongodb import storage
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.configuration import Changed, SetConfiguration
from brownout.databases.mongodb.link import Link
from brownout.databases.mongodb.membership import Document
from brownout.databases.mongodb.view import View, look
from brownout.databases.node_answers import Asking
from brownout.databases.places import Places
from brownout.inventory.model import Cluster, Node

__all__ = ["Connected"]


class Connected(Asking[Link, View]):
    """Asks each member directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = access(cluster), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.every}
        super().__init__(cluster, links, look, View)
        self._places = Places(storage.is_data)
        self._configuration = SetConfiguration(cluster, links, self._polled)

    def expect(self, nodes: Sequence[Node]) -> None:
        """Take these nodes for the set's members from now on."""
        self._panel.expect(nodes)

    def configure(self, step: Callable[[Document], Document | None]) -> Changed:
        """Give the set what `step` makes of its configuration; None where it has it already."""
        return self._configuration.change(step)
