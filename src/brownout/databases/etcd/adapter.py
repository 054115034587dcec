"""The adapter itself: asks every member at once and hands the answers to pure functions."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import BrownoutError, ClusterError, Refused, ordering
from brownout.base.wait import wait_until
from brownout.databases import apart
from brownout.databases.access import by_password, load_spec
from brownout.databases.adapter import FailureDetection, Milestone, MilestoneState, Support
from brownout.databases.etcd import choice, milestones, storage
from brownout.databases.etcd.candidate import EtcdCandidate
from brownout.databases.etcd.grants import ROOT, covers
from brownout.databases.etcd.link import LOGIN, CommandFailed, Link
from brownout.databases.etcd.readmission import take_in
from brownout.databases.etcd.settings import VARIABLES, living_settings, own_settings
from brownout.databases.etcd.view import LEADER, View, look
from brownout.databases.node_answers import Handover
from brownout.databases.places import Places, Unnamed, names
from brownout.databases.scenarios import Scenarios
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof, host_for

__all__ = ["SCENARIOS", "EtcdAdapter"]

#: The leader gives the transfer one election time-out, at most 50 s of them.
_TRANSFER_S = 60.0
_POLL_S = 0.02
#: The setting and its default (etcd, "Configuration options").
_ELECTION_TIMEOUT, _ELECTION_MS = "election-timeout", 1000

SCENARIOS = Scenarios(
    database="etcd",
    own=frozenset({"drain", "stepdown", "undrain"}),
    # After these another member must take over, or there is nothing to measure but the end.
    need_another=frozenset({"drain", "partition", "stepdown"}),
    # A member that lost its data is removed and added by the others, who have to be a quorum then.
    at_least={"wipe": (3, "without a quorum of the {members} members none can be taken in again")},
    majority="quorum",
)


class EtcdAdapter(Handover[Link, View]):
    """Asks each member directly, in parallel, with `connection.timeout_s`."""

    TARGETS = choice.TARGETS

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        super().__init__(cluster, links, look, View)
        self._places = Places(storage.is_data)

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled())

    def signature(self) -> str:
        """Return a line that changes when a member goes, comes back or changes its role."""
        return milestones.signature_of(self._polled())

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the leader hand over (`MoveLeader`) to the follower that has applied most.

        etcd itself lets that one catch up, for one election time-out at most; `catch_up_s` does not
        change that. The proof is the old leader's own word.
        """
        views = self._views()
        before = next(view for view in views if view.node == node.name)
        if before.error:
            raise ClusterError(before.error)
        asked = time.monotonic()
        target = self._successor(before, views) if before.state == LEADER else None
        if target is not None:
            self._move(node, target)
        after = wait_until(
            lambda: self._ask(node), self._timeout_s, _POLL_S, so=lambda view: view.state != LEADER
        )
        done = time.monotonic()
        if after.state == LEADER:
            raise ClusterError(f"member `{node.name}` still leads after it was told to hand over")
        evidence: dict[str, Any] = {"state_before": before.state, "state": after.state}
        if target is not None:
            evidence |= {"handed_to": target.node, "caught_up_s": round(done - asked, 3)}
        return Proof(done, done - asked, evidence, already=target is None)

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Have the others take `node` for a new member, if we emptied it and it has no data.

        Raises `ClusterError` where no quorum of them serves.
        """
        host = host_for(node)
        settings = own_settings(node, host)
        if not emptied or "data-dir" not in settings or host.running().running:
            return {}
        if not storage.is_empty(host, storage.directories(node, settings)):
            return {}
        return take_in(node, storage.peer_url(node, settings), lambda: self._serving(node))

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Do nothing: the others know it already."""
        return {}

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return SCENARIOS.support(scenario, self._cluster)

    def candidates(self) -> list[EtcdCandidate]:
        """Return every node, to ask each by itself whether it leads."""
        return [EtcdCandidate(n, self._access, self._timeout_s) for n in self._cluster.nodes]

    def failure_detection(self) -> FailureDetection | None:
        """Return the longest election time-out that a member's command or file names.

        None where that of one cannot be read: no member tells it.
        """
        try:
            settings = [own_settings(node, host_for(node)) for node in self._cluster.nodes]
        except (BrownoutError, ValueError):
            return None
        if not all(settings):
            return None
        longest = max(float(each.get(_ELECTION_TIMEOUT, _ELECTION_MS)) for each in settings)
        return FailureDetection(_ELECTION_TIMEOUT, longest / 1000)

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have, by the first member that answers."""
        silent: ClusterError | None = None
        for node in self._cluster.nodes:
            link = self._links[node.name]
            try:
                roles = self._roles(link)
                if roles is None or ROOT in roles:
                    return []
                has = [each for role in roles for each in _permissions(link, role)]
            except ClusterError as error:
                silent = error
                continue
            return [
                grant
                for grant in grants
                if not all(
                    each != ROOT and any(covers(each.format(namespace=namespace), it) for it in has)
                    for each in grant.ask
                )
            ]
        raise silent or ClusterError(f"cluster `{self._cluster.name}` has no nodes")

    def _roles(self, link: Link) -> Sequence[str] | None:
        """Return the roles of our user; None where the members know no users."""
        if not self._access.username:
            return None  # a member that wants a login has said so by now
        try:
            return list(link.ask("auth/user/get", name=self._access.username).get("roles", ()))
        except CommandFailed as error:
            if error.reply == "authentication is not enabled":
                return None
            raise

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        login = by_password(self._cluster.as_the_load, LOGIN)
        return load_spec(self._cluster, "etcd", login)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def identity(self, node: Node) -> str:
        """Return the member's id, which lies in its log; one without data is a new member."""
        id = self._ask(node).evidence().get("member_id")
        return f"member id {id}" if id else ""

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `data-dir`, and its `wal-dir`, as its configuration and process say.

        Raises `Refused` if that is not known for sure, if its process was started with others, if
        they do not look like etcd's (unless their wipe has `begun`), if the node would not come
        back without its data, or if they are, hold or lie in those of another node of the same
        machine.
        """
        host = host_for(node)
        footprint = host.footprint(VARIABLES)
        living = living_settings(host, footprint) if footprint is not None else {}
        answered = storage.directories(node, living) if "data-dir" in living else None
        settings: dict[str, str] = {}

        def configured() -> list[Path]:
            settings.update(own_settings(node, host))
            try:
                return storage.directories(node, settings)
            except Unnamed as error:
                raise _alone(error, answered) from error

        directories = self._places.agreed(node, host, configured, answered, footprint)
        storage.check_returns(node, settings)
        for directory in [] if begun else directories:
            storage.check_contents(node, host, directory)
        apart.check(
            node,
            directories,
            self._cluster.nodes,
            lambda other, its: storage.directories(other, own_settings(other, its)),
        )
        return directories

    def _successor(self, leader: View, views: Sequence[View]) -> View:
        followers = [
            view for view in views if view.role == "secondary" and view.node != leader.node
        ]
        if not followers:
            raise ClusterError(
                f"member `{leader.node}` cannot hand over: no follower serves",
                "see that another member is healthy",
            )
        return max(followers, key=lambda view: view.applied)

    def _move(self, node: Node, target: View) -> None:
        with ordering(
            "the leader did not hand over",
            f"see that `{target.node}` is healthy and not far behind",
        ):
            self._links[node.name].ask(
                "maintenance/transfer-leadership", _TRANSFER_S, targetID=target.id
            )

    def _serving(self, besides: Node) -> list[Link]:
        """Return links to the members that serve now, the leader first."""
        views = [view for view in self._views() if view.serves and view.node != besides.name]
        views.sort(key=lambda view: view.state != LEADER)
        return [self._links[view.node] for view in views]


def _permissions(link: Link, role: str) -> Sequence[Mapping[str, str]]:
    """Return what a role of ours may do; a user may always ask for its own."""
    return list(link.ask("auth/role/get", role=role).get("perm", ()))


def _alone(error: Unnamed, answered: Sequence[Path] | None) -> Refused:
    """Return why what the living member alone says is not enough.

    One without data is taken in again by its peer URL, also by a `heal` after this process died.
    """
    if answered is None:
        return error
    return Refused(f"{error.message}; its process has {names(answered)}", error.hint)
