"""The adapter itself: asks every node at once and hands the answers to pure functions."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from brownout.base.errors import ClusterError, ordering
from brownout.base.wait import wait_until
from brownout.databases.access import by_password, load_spec
from brownout.databases.adapter import FailureDetection, Milestone, MilestoneState, Support
from brownout.databases.redis import milestones, rejoin
from brownout.databases.redis.candidate import RedisCandidate
from brownout.databases.redis.link import LOGIN, Link
from brownout.databases.redis.slot_moves import Resharding
from brownout.databases.redis.view import View, look
from brownout.databases.scenarios import Scenarios
from brownout.databases.view import reasons
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["SCENARIOS", "RedisAdapter"]

#: A failover by hand is given up by the replica itself after 5 s (`CLUSTER_MF_TIMEOUT`).
_HANDED_OVER_S = 10.0
_POLL_S = 0.02
_NODE_TIMEOUT = "cluster-node-timeout"

SCENARIOS = Scenarios(
    database="Redis Cluster",
    own=frozenset({"drain", "slots", "stepdown", "undrain"}),
    need_another=frozenset({"drain", "partition", "slots", "stepdown", "wipe"}),
)


class RedisAdapter(Resharding):
    """Asks each node directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        super().__init__(cluster, links, look, View)
        self._shards = {node.name: node.shard for node in cluster.nodes}

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
                "see that they have `cluster-enabled yes` and are one cluster; where sentinels "
                "promote a replica, name them under `sentinel` (docs/redis.md#sentinel)",
            )

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled(), self._shards)

    def signature(self) -> str:
        """Return a line that changes when a node goes, comes back or changes its role."""
        return milestones.signature_of(self._polled())

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

        Raises `ClusterError` where no replica takes over; see `rejoin`.
        """
        if self._starts_empty(node, emptied):
            rejoin.await_successor(node, self._views)
        return {}

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Introduce `node` to its cluster, if the run emptied it and it knows no other."""
        if not emptied:
            return {}
        return rejoin.introduce(node, self._links, self._shards, self._views)

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return SCENARIOS.support(scenario, self._cluster)

    def candidates(self) -> list[RedisCandidate]:
        """Return every node, to ask each by itself whether it is a master that serves.

        A node whose shard the inventory does not name is of the one that it is of now.
        """
        now = milestones.shards_of(self._views())
        return [
            RedisCandidate(n, n.shard or now[n.name], self._access, self._timeout_s)
            for n in self._cluster.nodes
        ]

    def failure_detection(self) -> FailureDetection | None:
        """Return the cluster's node time-out; None where no node may tell it."""
        for link in self._links.values():
            with suppress(ClusterError):
                (answer,) = link.ask_all([("CONFIG", "GET", _NODE_TIMEOUT)])
                if isinstance(answer, list) and len(answer) == 2:
                    return FailureDetection(_NODE_TIMEOUT, int(str(answer[1])) / 1000)
        return None

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        login = by_password(self._cluster.as_the_load, LOGIN)
        return load_spec(self._cluster, "redis", login)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def identity(self, node: Node) -> str:
        """Return the node's id, which lies in its `nodes.conf`."""
        id = self._ask(node).id
        return f"node id {id}" if id else ""

    def _successor(self, master: View, views: Sequence[View]) -> View:
        replicas = [view for view in views if view.master == master.id and view.linked]
        if not replicas:
            raise ClusterError(
                f"node `{master.node}` cannot hand over: it has no replica with a link to it",
                "see that its replica is healthy",
            )
        return max(replicas, key=lambda view: view.offset)

    def _take_over(self, replica: View) -> None:
        with ordering(f"node `{replica.node}` does not take over"):
            self._links[replica.node].ask("CLUSTER", "FAILOVER")
