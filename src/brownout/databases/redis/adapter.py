"""The adapter itself: asks every node at once and hands the answers to pure functions."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Refused, ordering
from brownout.base.wait import wait_until
from brownout.databases import apart
from brownout.databases.access import by_password, load_spec
from brownout.databases.adapter import FailureDetection, Milestone, MilestoneState, Support
from brownout.databases.places import Places
from brownout.databases.redis import choice, milestones, rejoin, storage
from brownout.databases.redis.candidate import RedisCandidate
from brownout.databases.redis.link import LOGIN, CommandFailed, Link
from brownout.databases.redis.settings import own_settings
from brownout.databases.redis.slot_moves import Resharding
from brownout.databases.redis.view import View, look, parse_info
from brownout.databases.scenarios import Scenarios
from brownout.databases.view import reasons
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Proof, host_for

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

    TARGETS = choice.TARGETS

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        super().__init__(cluster, links, look, View)
        self._shards = {node.name: node.shard for node in cluster.nodes}
        self._places = Places(storage.is_data)

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

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled(), self._shards)

    def signature(self) -> str:
        """Return a line that changes when a node goes, comes back or changes its role."""
        return milestones.signature_of(self._polled())

    def connections(self, node: Node) -> int:
        """Return how many clients the node has, replicas not counted."""
        return int(
            parse_info(str(self._links[node.name].ask("INFO", "clients")))["connected_clients"]
        )

    def time_of(self, node: Node) -> float:
        """Return the time by the node's own clock, in seconds since 1970 (`TIME`)."""
        match self._links[node.name].ask("TIME"):
            case [str(seconds), str(microseconds)]:
                return int(seconds) + int(microseconds) / 1e6
            case other:
                raise ClusterError(f"node `{node.name}`: TIME: found {other!r}, wanted two numbers")

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
        host = host_for(node)
        if host.running().running:
            return {}
        if not emptied:
            try:
                settings = own_settings(node, host)
                at = storage.directory(node, settings)
                if storage.holds_data(node, host, at, settings):
                    return {}
            except Refused:  # unknown, so it is not waited for, as its own service would not either
                return {}
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

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have on some node: each has its own ACL."""
        links = [self._links[node.name] for node in self._cluster.nodes]
        return [
            grant
            for grant in grants
            if any(
                self._is_denied(link, asked.format(namespace=namespace))
                for link in links
                for asked in grant.ask
            )
        ]

    @staticmethod
    def _is_denied(link: Link, command: str) -> bool:
        try:
            link.ask(*command.split())
        except CommandFailed as error:
            return error.reply.startswith("NOPERM")
        return False

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

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `dir`, as its own configuration and the living node name it.

        Raises `Refused` if that is not known for sure, if the living node names another one, if it
        does not look like Redis's (unless its wipe has `begun`), or if it is, holds or lies in that
        of another node of the same machine.
        """
        host = host_for(node)
        footprint = host.footprint()
        answered = self._answered(node, footprint)
        living = [Path(answered["dir"])] if answered else None
        settings: dict[str, str] = {}

        def configured() -> list[Path]:
            settings.update(own_settings(node, host))
            return [storage.directory(node, settings)]

        directories = self._places.agreed(node, host, configured, living, footprint)
        if not begun:
            for directory in directories:
                storage.check_contents(node, host, directory, {**settings, **answered})
        apart.check(
            node,
            directories,
            self._cluster.nodes,
            lambda other, its: [storage.directory(other, own_settings(other, its))],
        )
        return directories

    def _answered(self, node: Node, footprint: Footprint | None) -> dict[str, str]:
        """Return what the living node says of its storage (`CONFIG GET`); nothing if it is down.

        One that does not let us ask works in its `dir`, where its process can be seen. Raises
        `Refused` where neither is possible.
        """
        try:
            asked = [("CONFIG", "GET", name) for name in storage.SETTINGS]
            answers = self._links[node.name].ask_all(asked)
        except CommandFailed as error:
            if footprint is not None and footprint.directory is not None:
                return {"dir": str(footprint.directory)}
            raise Refused(
                f"node `{node.name}`: where its data lie is not certain: it does not answer "
                f"`CONFIG GET dir` ({error.reply}), and its process cannot be seen",
                "give the user `+config|get`",
            ) from error
        except ClusterError:
            return {}
        pairs = [answer for answer in answers if isinstance(answer, list) and len(answer) == 2]
        return {str(name): str(value) for name, value in pairs}

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
