"""The adapter itself: asks every server and every sentinel at once; pure functions judge."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from brownout.base.errors import ClusterError, ordering
from brownout.base.wait import wait_until
from brownout.databases.access import Access, by_password, load_spec
from brownout.databases.adapter import FailureDetection, Member, Milestone, MilestoneState, Support
from brownout.databases.panel import Panel
from brownout.databases.redis.link import LOGIN, CommandFailed, Link
from brownout.databases.redis.members import RedisMembers
from brownout.databases.redis.sentinel import milestones
from brownout.databases.redis.sentinel.candidate import SentinelCandidate
from brownout.databases.redis.sentinel.milestones import Sight
from brownout.databases.redis.sentinel.view import View, look
from brownout.databases.redis.sentinel.watch import Watch, nodes_of, watch
from brownout.databases.scenarios import Scenarios
from brownout.databases.view import reasons
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.inventory.sentinel import SentinelSpec
from brownout.machine.host import Proof

__all__ = ["SCENARIOS", "SentinelAdapter", "access_to"]

#: A promotion by hand takes about a second; sentinels give up after their `failover-timeout`.
_HANDED_OVER_S = 60.0
_POLL_S = 0.02
#: A failover takes `down-after-milliseconds`, 30 s as a sentinel comes, and an election.
_PROMOTED_S = 60.0

SCENARIOS = Scenarios(
    database="Redis under Sentinel",
    own=frozenset({"drain", "stepdown", "undrain"}),
    need_another=frozenset({"cutoff", "drain", "partition", "stepdown", "wipe"}),
    impossible={"slots": "a Redis under Sentinel is not sharded: it has no slots that could move"},
    keep_majority=frozenset(),  # the sentinels vote, and not the nodes
)


def access_to(cluster: Cluster, spec: SentinelSpec) -> Access:
    """Return how the sentinels are reached: encrypted as nodes are, with a login of their own."""
    auth = spec.auth
    password = auth.password.get_secret_value() if auth and auth.password else ""
    return replace(
        by_password(cluster, LOGIN), username=auth.username if auth else "", password=password
    )


class SentinelAdapter(RedisMembers[View]):
    """Asks each server and each sentinel directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster, spec: SentinelSpec) -> None:
        self._access, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s, rights="+info") for n in cluster.nodes}
        super().__init__(cluster, links, look, View)
        self._spec, sentinels = spec, nodes_of(spec)
        to_them = partial(
            Link, access=access_to(cluster, spec), login="sentinel.auth", rights="+sentinel"
        )
        self._sentinels = {n.name: to_them(n, timeout_s=timeout_s) for n in sentinels}
        self._watchers = Panel(sentinels, self._watch, Watch.without, len(sentinels))
        self._names = {node.address: node.name for node in cluster.nodes}

    def close(self) -> None:
        """Wait for the questions that are out, and close every connection."""
        super().close()
        self._watchers.close()
        for link in self._sentinels.values():
            link.close()

    def ready(self) -> None:
        """Return if a server answers, none is of a cluster, and a sentinel knows the master.

        Raises `ClusterError` with each one's own reason otherwise.
        """
        sight = self._sight(3 * self._timeout_s)
        name = self._cluster.name
        if not any(view.info for view in sight.views):
            raise ClusterError(f"cluster `{name}` does not answer: {reasons(sight.views)}")
        wrong = [v for v in sight.views if v.state in ("CLUSTER", "SENTINEL")]
        if wrong:
            raise ClusterError(
                f"cluster `{name}`: {', '.join(f'{v.node} is a {v.state}' for v in wrong)}, "
                "wanted servers that are not",
                "nodes of a Redis Cluster want an inventory without `sentinel`, and sentinels "
                "stand in `sentinel.addresses`",
            )
        if not any(watch.serves for watch in sight.watches):
            raise ClusterError(
                f"cluster `{name}`: no sentinel watches `{self._spec.master}`: "
                f"{reasons(sight.watches)}",
                "see `sentinel.master`, `sentinel.addresses` and `sentinel.auth` of the inventory",
            )

    def members(self) -> list[Member]:
        """Return every server with its role and state, and how many sentinels name it as master.

        One that is still a master, while another one is that the sentinels name, has another role.
        """
        sight = self._sight(3 * self._timeout_s)
        chosen = milestones.named(sight)
        masters = [view for view in sight.views if view.state == "MASTER"]
        both = len(masters) > 1 and chosen is not None
        members = []
        for view in sight.views:
            overruled = both and view in masters and chosen and view.node != chosen.node
            named_by = sum(
                one.master is not None and sight.node_of(one.master) == view.node
                for one in sight.watches
            )
            role = "other" if overruled else view.role
            detail = view.evidence() | {
                "named_master_by": f"{named_by} of {len(sight.watches)} sentinels"
            }
            members.append(
                Member(view.node, view.address, role, view.state, view.serves, None, detail)
            )
        return members

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._sight(self.PATIENCE_S))

    def signature(self) -> str:
        """Return a line that changes when a change is noticed; see `milestones`."""
        return milestones.signature_of(self._sight(self.PATIENCE_S))

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the sentinels promote a replica in place of the master (`SENTINEL FAILOVER`).

        They wait for nothing, so `catch_up_s` has no effect: what the master acknowledges until it
        is told that it is a replica is lost. The proof is the new master's own word, and the name
        that most sentinels give.
        """
        before = self._ask(node)
        if before.error:
            raise ClusterError(before.error)
        if before.state != "MASTER":
            return Proof(time.monotonic(), 0.0, {"state": before.state}, already=True)
        asked = last = time.monotonic()
        self._order_failover()

        def successor() -> View | None:
            nonlocal last
            began = time.monotonic()
            for view in self._polled():
                if view.state == "MASTER" and view.node != node.name:
                    return view
            last = began
            return None

        after = wait_until(successor, _HANDED_OVER_S, _POLL_S)
        effective = time.monotonic()
        if after is None:
            raise ClusterError(
                f"no other node than `{node.name}` is master {_HANDED_OVER_S:g} s after "
                "`SENTINEL FAILOVER` was accepted",
                "see the logs of the sentinels",
            )
        agreed = wait_until(
            lambda: milestones.named(self._sight(self.PATIENCE_S)),
            _HANDED_OVER_S,
            _POLL_S,
            so=lambda chosen: chosen is not None and chosen.node == after.node,
        )
        if agreed is None or agreed.node != after.node:
            raise ClusterError(f"most sentinels do not name `{after.node}`, which was promoted")
        evidence: dict[str, Any] = {
            "state_before": before.state,
            "state": self._ask(node).state,
            "handed_to": after.node,
            "caught_up_s": round(time.monotonic() - asked, 3),
        }
        return Proof(effective, effective - last, evidence)

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Wait until `node`, if it would start without data, is not the sentinels' master any more.

        Else the replicas would copy its nothing. Raises `ClusterError` where none is promoted.
        """
        if not self._starts_empty(node, emptied):
            return {}

        def replaced() -> bool:
            sight = self._sight(self.PATIENCE_S)
            chosen, master = milestones.named(sight), milestones.master_of(sight)
            return (
                chosen is not None
                and chosen.node != node.name
                and master is not None
                and master.node == chosen.node
            )

        if not wait_until(replaced, _PROMOTED_S, 0.1):
            raise ClusterError(
                f"node `{node.name}` is not started: it has no data, and the sentinels named no "
                f"other master that serves within {_PROMOTED_S:g} s: its replicas would copy "
                "nothing",
                "`SENTINEL FAILOVER` has a replica promoted; then start it",
            )
        return {}

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Do nothing: the sentinels make a replica of a node that comes back."""
        return {}

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return SCENARIOS.support(scenario, self._cluster)

    def candidates(self) -> list[SentinelCandidate]:
        """Return every server, to ask each by itself whether it is a master that takes writes."""
        return [SentinelCandidate(n, self._access, self._timeout_s) for n in self._cluster.nodes]

    def failure_detection(self) -> FailureDetection | None:
        """Return after how long most sentinels see a silent master as down; None if unknown."""
        watches = self._sight(self._timeout_s).watches
        seconds = sorted(watch.down_after_s for watch in watches if watch.serves)
        if not seconds:
            return None
        return FailureDetection("down-after-milliseconds", seconds[len(seconds) // 2])

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have; those of a cluster are not needed."""
        needed = [
            replace(
                grant, ask=tuple(asked for asked in grant.ask if not asked.startswith("CLUSTER"))
            )
            for grant in grants
        ]
        missing = super().missing_grants(needed, namespace)
        return [grant for grant, own in zip(grants, needed, strict=True) if own in missing]

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        login = by_password(self._cluster.as_the_load, LOGIN)
        spec = load_spec(self._cluster, "redis", login)
        theirs = access_to(self._cluster, self._spec)
        spec["connection"]["sentinel"] = {
            "master": self._spec.master,
            "addresses": list(self._spec.addresses),
            "username": theirs.username,
            "password": theirs.password,
        }
        return spec

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        sight = self._sight(3 * self._timeout_s)
        return milestones.lost_with({node.name for node in nodes}, sight)

    def _watch(self, sentinel: Node) -> Watch:
        return watch(sentinel, self._sentinels[sentinel.name], self._spec.master)

    def _sight(self, patience_s: float) -> Sight:
        views, watches = self._panel.views(patience_s), self._watchers.views(patience_s)
        nodes = {view.run_id: view.node for view in views if view.run_id}
        for one in watches:
            for seen in (one.master, *one.replicas) if one.master else ():
                if seen.run_id in nodes:  # a server that dies keeps the name that it had here
                    self._names[seen.at] = nodes[seen.run_id]
        return Sight(views, watches, dict(self._names))

    def _order_failover(self) -> None:
        """Have one sentinel promote a replica; another one is asked where it cannot."""
        failed: ClusterError | None = None
        with ordering(f"the sentinels do not have a replica of `{self._spec.master}` promoted"):
            for link in self._sentinels.values():
                try:
                    link.ask("SENTINEL", "FAILOVER", self._spec.master)
                except CommandFailed:
                    raise
                except ClusterError as error:
                    failed = error
                else:
                    return
            assert failed is not None  # an inventory names at least one sentinel
            raise failed
