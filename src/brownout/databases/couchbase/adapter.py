"""The adapter itself: asks every node at once and hands the answers to pure functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Unsupported
from brownout.databases.access import load_spec
from brownout.databases.adapter import Milestone, MilestoneState, Support
from brownout.databases.couchbase import milestones
from brownout.databases.couchbase.access import access
from brownout.databases.couchbase.link import Link
from brownout.databases.couchbase.view import MOCK, TARGETS, View, look
from brownout.databases.node_answers import Asking
from brownout.databases.view import reasons
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["NO_FAULTS", "CouchbaseAdapter"]

NO_FAULTS = (
    "brownout offers no fault on Couchbase: it was only tried against CouchbaseMock, which has no "
    "replication, failure detector or rebalance, so that what follows a fault there says nothing "
    "about Couchbase"
)


class CouchbaseAdapter(Asking[Link, View]):
    """Asks each node's REST API, in parallel, with `connection.timeout_s`."""

    TARGETS = TARGETS

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = access(cluster), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        super().__init__(cluster, links, look, View)

    def ready(self) -> None:
        """Return if at least one node answers, and no mock is taken for a database.

        Raises `ClusterError` with each node's own reason otherwise.
        """
        views = self._views()
        if not any(view.bucket for view in views):
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons(views)}")
        lab = self._cluster.lab
        if any(view.is_mock for view in views) and not (lab is not None and lab.stand_in):
            raise ClusterError(
                f"cluster `{self._cluster.name}` is {MOCK}, and results would not say so",
                "only lab-couchbase names a mock on every result",
            )

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled())

    def signature(self) -> str:
        """Return a line that changes when a node goes, comes back or vbuckets move."""
        return milestones.signature_of(self._polled())

    def drain(self, node: Node) -> Proof:
        """Raise `Unsupported`, as every fault."""
        raise Unsupported(NO_FAULTS)

    def undrain(self, node: Node) -> Proof:
        """Raise `Unsupported`, as `drain`."""
        return self.drain(node)

    def supports(self, scenario: str) -> Support:
        """Return that `scenario` is not offered, whichever it is."""
        return Support(False, NO_FAULTS)

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        return load_spec(self._cluster, "couchbase", access(self._cluster.as_the_load))

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return why no node may lose its data: no fault is offered."""
        return [NO_FAULTS]

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Raise `Unsupported`, as every fault."""
        raise Unsupported(NO_FAULTS)
