"""The part of an adapter that asks every node itself, and what follows from the answers alone."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Member
from brownout.databases.choice import Targets
from brownout.databases.panel import Panel
from brownout.databases.view import NodeView, clusters, reasons
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["Asking", "Handover"]


class _Link(Protocol):
    def close(self) -> None: ...


L = TypeVar("L", bound=_Link)
V = TypeVar("V", bound=NodeView)


class Asking(Generic[L, V]):
    """One cluster with a link to each node, spares too; all nodes are asked in parallel.

    `look` asks one node over its link for a view. An adapter says in `TARGETS` which words it has
    for roles, and in `PATIENCE_S` how long it waits for each node where it asks over and over.
    """

    TARGETS: ClassVar[Targets] = Targets()
    #: There is no need to wait for a node that hangs: the next time is soon.
    PATIENCE_S: ClassVar[float] = 0.5

    def __init__(
        self, cluster: Cluster, links: Mapping[str, L], look: Callable[[Node, L], V], view: type[V]
    ) -> None:
        self._cluster, self._links, self._look = cluster, links, look
        self._timeout_s = cluster.connection.timeout_s
        self._panel = Panel(cluster.nodes, self._ask, view.without, len(cluster.every))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the questions that are out, and close every connection."""
        self._panel.close()
        for link in self._links.values():
            link.close()

    def ready(self) -> None:
        """Return if at least one node answers and all that do are of one cluster.

        Raises `ClusterError` with each node's own reason otherwise.
        """
        views = self._views()
        names = clusters(views)
        if not names:
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons(views)}")
        if len(names) > 1:
            raise ClusterError(
                f"cluster `{self._cluster.name}`: its nodes are of the clusters "
                f"{', '.join(names)}, wanted one"
            )

    def members(self) -> list[Member]:
        """Return every node with its role and state."""
        views = self._views()
        lags = self._lags_s(views)
        return [
            Member(v.node, v.address, v.role, v.state, v.serves, lags.get(v.node), v.evidence())
            for v in views
        ]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the nodes that `select` means now; see `Targets.choose`."""
        racks = {node.name: node.rack for node in self._cluster.every}
        shards = {node.name: node.shard for node in self._cluster.every}
        chosen = self.TARGETS.choose(select, self.members(), seed, racks, shards)
        return [self._cluster.node(name) for name in chosen]

    def role_asked(self, select: str) -> str:
        """Return the role that `select` asks for, whatever word of the database it uses."""
        return self.TARGETS.role_asked(select)

    def role_words(self) -> dict[str, str]:
        """Return the database's own word for each of the two roles."""
        return self.TARGETS.role_words()

    def engine(self) -> str:
        """Return what the nodes run, with its version; where versions differ, each is named.

        Raises `ClusterError` if no node tells.
        """
        engines = sorted({view.engine for view in self._views()} - {""})
        if not engines:
            raise ClusterError(f"no node of `{self._cluster.name}` tells its version")
        return " and ".join(engines)

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what `node` says of itself now; if it says nothing, why."""
        return self._ask(node).evidence()

    def _ask(self, node: Node) -> V:
        return self._look(node, self._links[node.name])

    def _views(self) -> list[V]:
        """Ask every node and wait for each one's answer or its own time limit."""
        return self._panel.views(3 * self._timeout_s)

    def _polled(self) -> list[V]:
        """Ask every node, as one does over and over."""
        return self._panel.views(self.PATIENCE_S)

    def _lags_s(self, _views: list[V]) -> Mapping[str, float | None]:
        """Return how far each node is behind, where that can be told in seconds."""
        return {}


class Handover(Asking[L, V], ABC):
    """A cluster whose primary hands over when told to, and may become primary again at once."""

    @abstractmethod
    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the primary hand over; see `brownout.databases.adapter`."""

    def drain(self, node: Node) -> Proof:
        """Have the primary hand over; any other node has nothing to hand over."""
        return self.step_down(node, 0)

    def undrain(self, node: Node) -> Proof:
        """Do nothing: a node that handed over may become primary again at once."""
        return Proof(time.monotonic(), 0.0, {"state": self._ask(node).state}, already=True)
