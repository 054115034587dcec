"""The adapter itself: asks every member at once and hands the answers to pure functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Refused
from brownout.databases.adapter import Member, Milestone, MilestoneState, Support
from brownout.databases.mongodb import milestones, storage
from brownout.databases.mongodb.access import load_spec
from brownout.databases.mongodb.adjusting import SetAdjusting
from brownout.databases.mongodb.candidate import MongoCandidate
from brownout.databases.mongodb.choice import TARGETS
from brownout.databases.mongodb.connected import POLL_PATIENCE_S
from brownout.databases.mongodb.link import Link
from brownout.databases.mongodb.resizing import SetResizing
from brownout.databases.mongodb.scenarios import support, topology
from brownout.databases.mongodb.view import look, reasons
from brownout.inventory.model import Node
from brownout.machine.host import host_for

__all__ = ["MongoAdapter"]


class MongoAdapter(SetResizing, SetAdjusting):
    """One replica set: its questions here, what changes its members in the parts."""

    def ready(self) -> None:
        """Return if at least one member answers and all that do are of one replica set.

        Raises `ClusterError` with each member's own reason otherwise.
        """
        views = self._views()
        suited = topology(views)
        if not suited.ok:
            raise ClusterError(f"cluster `{self._cluster.name}`: {suited.reason}")
        if not any(view.status for view in views):
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons(views)}")
        sets = sorted({str(view.status["set"]) for view in views if view.status})
        wanted = self._cluster.connection.replica_set
        if len(sets) > 1 or (wanted and sets != [wanted]):
            raise ClusterError(
                f"cluster `{self._cluster.name}`: its members are of the replica set "
                f"{', '.join(sets)}, wanted {wanted or 'one set'}"
            )

    def members(self) -> list[Member]:
        """Return every node with its role, state and lag behind the primary."""
        views = self._views()
        lags = milestones.lags_s(views)
        return [
            Member(v.node, v.address, v.role, v.state, v.serves, lags[v.node], v.evidence())
            for v in views
        ]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the nodes that `select` means now; see `Targets.choose`."""
        racks = {node.name: node.rack for node in self._cluster.every}
        chosen = TARGETS.choose(select, self.members(), seed, racks)
        return [self._cluster.node(name) for name in chosen]

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._panel.views(POLL_PATIENCE_S))

    def signature(self) -> str:
        """Return a line that changes when a member goes, comes back or changes its role."""
        return milestones.signature_of(self._panel.views(POLL_PATIENCE_S))

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what `node` says of itself now; if it says nothing, why."""
        return look(node, self._links[node.name]).evidence()

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        suited = topology(self._views())
        return support(scenario, self._cluster) if suited.ok else suited

    def engine(self) -> str:
        """Return what the members run, as `mongod 6.0.5`; several versions are all named."""
        builds = self._panel.each(lambda node: self._version(self._links[node.name]))
        versions = sorted({build for build in builds if build})
        if not versions:
            raise ClusterError(f"no member of `{self._cluster.name}` says its version")
        return f"mongod {' and '.join(versions)}"

    def candidates(self) -> list[MongoCandidate]:
        """Return every node, to ask each by itself whether it is the writable primary."""
        return [MongoCandidate(n, self._access, self._timeout_s) for n in self._cluster.every]

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        return load_spec(self._cluster)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `dbPath`, as its own configuration names it.

        Raises `Refused` if that is not known for sure, if a living member names another one, if
        it does not look like MongoDB's storage (unless its wipe has `begun`), or if it is, holds
        or lies in the directory of another node of the same machine.
        """
        host = host_for(node)
        directory = storage.configured_directory(node, host)
        answered = self._answered_directory(node)
        if answered is not None and answered != directory:
            raise Refused(
                f"node `{node.name}`: its configuration names `{directory}`, but it runs with "
                f"`{answered}`",
                "restart it with its configuration, or correct the inventory",
            )
        if not begun:
            storage.check_contents(node, host, directory)
        storage.check_apart(node, [directory], self._cluster.every)
        return [directory]

    @staticmethod
    def _version(link: Link) -> str:
        try:
            return str(link.ask("buildInfo")["version"])
        except ClusterError:
            return ""

    def _answered_directory(self, node: Node) -> Path | None:
        try:
            answer = self._links[node.name].ask("getCmdLineOpts")
        except ClusterError:
            return None  # it is down, which before a wipe it should be
        path = answer.get("parsed", {}).get("storage", {}).get("dbPath")
        return Path(path) if path else None
