"""The adapter itself: asks every member at once and hands the answers to pure functions."""

import time
from pathlib import Path
from types import TracebackType
from typing import Any

from brownout.cluster import wipe
from brownout.cluster.adapter import Member, Milestone, MilestoneState, Support
from brownout.cluster.host import Host, Proof, host_for
from brownout.cluster.model import Cluster, Node
from brownout.cluster.mongodb import choice, milestones, storage
from brownout.cluster.mongodb.access import access
from brownout.cluster.mongodb.link import CommandFailed, Link
from brownout.cluster.mongodb.panel import Panel
from brownout.cluster.mongodb.scenarios import support, topology
from brownout.cluster.mongodb.view import PRIMARY, View, look, reasons
from brownout.errors import ClusterError, Refused

__all__ = ["MongoAdapter"]

#: For how long a drained member does not become primary again by itself.
DRAIN_S = 60
_CATCH_UP_S = 10
#: What is asked over and over need not wait for a member that hangs; the next time is soon.
_POLL_PATIENCE_S = 0.5
#: `replSetFreeze` to a member that is primary.
_NOT_SECONDARY = 95


class MongoAdapter:
    """One replica set. Asks each member directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._access = access(cluster)
        timeout_s = cluster.connection.timeout_s
        self._links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        self._panel = Panel(cluster.nodes, self._links)

    def __enter__(self) -> "MongoAdapter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._panel.close()
        for link in self._links.values():
            link.close()

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
        """Return the nodes that `select` means now; see `choice.choose`."""
        members = self.members()
        return [self._cluster.node(name) for name in choice.choose(select, members, seed)]

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._panel.views(_POLL_PATIENCE_S))

    def signature(self) -> str:
        """Return a line that changes when a member goes, comes back or changes its role."""
        return milestones.signature_of(self._panel.views(_POLL_PATIENCE_S))

    def drain(self, node: Node, seconds: int = DRAIN_S) -> Proof:
        """Have the primary step down for `seconds`; keep a secondary from becoming primary.

        The proof is the server's own word: it accepts the order once it is primary no more.
        """
        link = self._links[node.name]
        before = look(node, link)
        if before.error:
            raise ClusterError(before.error)
        asked = time.monotonic()
        if before.state == PRIMARY:
            self._step_down(link, seconds)
        else:
            link.order("replSetFreeze", seconds, self._cluster.connection.timeout_s)
        done = time.monotonic()
        after = look(node, link)
        if after.state == PRIMARY:
            raise ClusterError(f"member `{node.name}` is still primary after its step-down")
        evidence = {"state_before": before.state, "state": after.state, "term": before.term}
        evidence["not_primary_for_s"] = seconds
        return Proof(done, done - asked, evidence, already=before.state != PRIMARY)

    def undrain(self, node: Node) -> Proof:
        """Let a member become primary again; it does so only when an election chooses it."""
        link = self._links[node.name]
        asked = time.monotonic()
        try:
            link.order("replSetFreeze", 0, self._cluster.connection.timeout_s)
            already = False
        except CommandFailed as error:
            if error.code != _NOT_SECONDARY:
                raise
            already = True  # it is primary: not drained
        done = time.monotonic()
        return Proof(done, done - asked, {"state": look(node, link).state}, already=already)

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

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        options = {"write_concern": "majority", **self._cluster.connection.options}
        return {
            "driver": "mongodb",
            "connection": self._access.generator(),
            "options": options,
        }

    def data_directories(self, node: Node) -> list[Path]:
        """Return the node's `dbPath`, as its own configuration names it.

        Raises `Refused` if that is not known for sure, if a living member names another one, if
        it does not look like MongoDB's storage, or if it is, holds or lies in the directory of
        another node of the same machine.
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
        storage.check_contents(node, host, directory)
        for other in self._cluster.nodes:
            if other.name != node.name:
                self._check_apart(node, host, directory, other)
        return [directory]

    def _views(self) -> list[View]:
        """Ask every member and wait for each one's answer or its own time limit."""
        return self._panel.views(3 * self._cluster.connection.timeout_s)

    def _step_down(self, link: Link, seconds: int) -> None:
        try:
            link.order(
                "replSetStepDown",
                seconds,
                _CATCH_UP_S + self._cluster.connection.timeout_s,
                secondaryCatchUpPeriodSecs=min(_CATCH_UP_S, seconds),
            )
        except CommandFailed as error:
            raise ClusterError(
                f"the primary did not step down: {error.message}",
                "see that a secondary is healthy, electable and not far behind",
            ) from error

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

    @staticmethod
    def _check_apart(node: Node, host: Host, directory: Path, other: Node) -> None:
        if other.host is None:
            return
        neighbour = host_for(other)
        if neighbour.machine != host.machine:
            return
        theirs = storage.configured_directory(other, neighbour)
        if wipe.same_or_nested([directory], theirs):
            raise Refused(
                f"node `{node.name}`: its data directory `{directory}` and `{theirs}` of node "
                f"`{other.name}` are the same or lie in each other"
            )
