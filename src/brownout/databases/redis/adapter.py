"""The adapter itself: asks every node at once and hands the answers to pure functions."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from brownout.base.errors import ClusterError, Refused
from brownout.base.waiting import wait_until
from brownout.databases import apart
from brownout.databases.adapter import Member, Milestone, MilestoneState, Support
from brownout.databases.panel import Panel
from brownout.databases.redis import milestones, returning, storage
from brownout.databases.redis.access import access, load_spec
from brownout.databases.redis.candidate import RedisCandidate
from brownout.databases.redis.choice import TARGETS
from brownout.databases.redis.link import CommandFailed, Link
from brownout.databases.redis.scenarios import support
from brownout.databases.redis.settings import own_settings
from brownout.databases.redis.view import View, look, reasons, without
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof, host_for

__all__ = ["RedisAdapter"]

#: What is asked over and over need not wait for a node that hangs; the next time is soon.
_POLL_PATIENCE_S = 0.5
#: A failover by hand is given up by the replica itself after 5 s (`CLUSTER_MF_TIMEOUT`).
_HANDED_OVER_S = 10.0
_POLL_S = 0.02


class RedisAdapter:
    """Asks each node directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._access = cluster, access(cluster)
        self._timeout_s = cluster.connection.timeout_s
        self._links = {n.name: Link(n, self._access, self._timeout_s) for n in cluster.nodes}
        self._panel = Panel(cluster.nodes, self._ask, without, len(cluster.nodes))
        self._shards = {node.name: node.shard for node in cluster.nodes}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._panel.close()
        for link in self._links.values():
            link.close()

    def ready(self) -> None:
        """Return if at least one node answers, and all that do are of a cluster.

        Raises `ClusterError` with each node's own reason otherwise.
        """
        views = self._views()
        answering = [view for view in views if view.info]
        if not answering:
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons(views)}")
        if not any(view.slots for view in answering):
            raise ClusterError(
                f"cluster `{self._cluster.name}`: no node that answers has a slot",
                "see that they have `cluster-enabled yes` and are one cluster",
            )

    def members(self) -> list[Member]:
        """Return every node with its role and state."""
        return [
            Member(v.node, v.address, v.role, v.state, v.serves, None, v.evidence())
            for v in self._views()
        ]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the nodes that `select` means now; see `Targets.choose`."""
        racks = {node.name: node.rack for node in self._cluster.nodes}
        chosen = TARGETS.choose(select, self.members(), seed, racks, self._shards)
        return [self._cluster.node(name) for name in chosen]

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._panel.views(_POLL_PATIENCE_S), self._shards)

    def signature(self) -> str:
        """Return a line that changes when a node goes, comes back or changes its role."""
        return milestones.signature_of(self._panel.views(_POLL_PATIENCE_S))

    def drain(self, node: Node) -> Proof:
        """Have a master hand over; a replica has nothing to hand over."""
        return self.step_down(node, 0)

    def undrain(self, node: Node) -> Proof:
        """Do nothing: a node that handed over may be promoted again at once."""
        state = self._ask(node).state
        return Proof(time.monotonic(), 0.0, {"state": state}, already=True)

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the replica that has most take over from its master (`CLUSTER FAILOVER`).

        The master stops serving writes until that replica has all of them, for 5 s at most;
        `catch_up_s` does not change that. The proof is the old master's own word.
        """
        views = self._views()
        before = next(view for view in views if view.node == node.name)
        if before.error:
            raise ClusterError(before.error)
        asked = time.monotonic()
        target = self._successor(before, views) if before.slots else None
        if target is not None:
            self._take_over(target)
        after = wait_until(
            lambda: self._ask(node), _HANDED_OVER_S, _POLL_S, so=lambda view: not view.slots
        )
        done = time.monotonic()
        if after.slots:
            raise ClusterError(f"node `{node.name}` is still a master after it was to hand over")
        evidence: dict[str, Any] = {"state_before": before.state, "state": after.state}
        if target is not None:
            evidence |= {"handed_to": target.node, "caught_up_s": round(done - asked, 3)}
        return Proof(done, done - asked, evidence, already=target is None)

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Wait until `node`, if it would start without data, is master of nothing any more.

        Raises `ClusterError` where no replica takes over; see `returning`.
        """
        host = host_for(node)
        if host.running().running:
            return {}
        if not emptied:
            try:
                settings = own_settings(node, host)
                at = storage.directory(node, settings)
                if storage.holds_data(node, host, at, settings):
                    return {}
            except Refused:  # nobody knows, so nobody waits: it is what its own service would do
                return {}
        returning.await_successor(node, self._views)
        return {}

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Introduce `node` to its cluster, if the run emptied it and it knows nobody any more."""
        if not emptied:
            return {}
        return returning.introduce(node, self._links, self._shards, self._views)

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what `node` says of itself now; if it says nothing, why."""
        return self._ask(node).evidence()

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return support(scenario, self._cluster)

    def engine(self) -> str:
        """Return what the nodes run, as `redis 7.0.15`; several versions are all named."""
        versions = sorted({view.version for view in self._views() if view.version})
        if not versions:
            raise ClusterError(f"no node of `{self._cluster.name}` says its version")
        return " and ".join(versions)

    def candidates(self) -> list[RedisCandidate]:
        """Return every node, to ask each by itself whether it is a master that serves.

        A node whose shard the inventory does not name is of the one that it is of now.
        """
        now = milestones.shards_of(self._views())
        return [
            RedisCandidate(n, n.shard or now[n.name], self._access, self._timeout_s)
            for n in self._cluster.nodes
        ]

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        return load_spec(self._cluster)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `dir`, as its own configuration names it.

        Raises `Refused` if that is not known for sure, if it does not look like Redis's (unless its
        wipe has `begun`), or if it is, holds or lies in that of another node of the same machine.
        """
        host = host_for(node)
        settings = own_settings(node, host)
        found = storage.directory(node, settings)
        if not begun:
            storage.check_contents(node, host, found, settings)
        apart.check(
            node,
            [found],
            self._cluster.nodes,
            lambda other, its: [storage.directory(other, own_settings(other, its))],
        )
        return [found]

    def _successor(self, master: View, views: Sequence[View]) -> View:
        replicas = [view for view in views if view.master == master.id and view.linked]
        if not replicas:
            raise ClusterError(
                f"node `{master.node}` cannot hand over: it has no replica with a link to it",
                "see that its replica is healthy",
            )
        return max(replicas, key=lambda view: view.offset)

    def _take_over(self, replica: View) -> None:
        try:
            self._links[replica.node].ask("CLUSTER", "FAILOVER")
        except CommandFailed as error:
            raise ClusterError(
                f"node `{replica.node}` does not take over: {error.message}", error.hint
            ) from error

    def _ask(self, node: Node) -> View:
        return look(node, self._links[node.name])

    def _views(self) -> list[View]:
        """Ask every node and wait for each one's answer or its own time limit."""
        return self._panel.views(3 * self._timeout_s)
