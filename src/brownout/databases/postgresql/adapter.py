"""The adapter itself: asks every member at once and hands the answers to pure functions."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from brownout.base.errors import ClusterError, NoAnswer, Refused, ordering
from brownout.base.wait import wait_until
from brownout.databases import apart
from brownout.databases.access import load_spec
from brownout.databases.adapter import FailureDetection, Milestone, MilestoneState, Support
from brownout.databases.node_answers import Handover
from brownout.databases.places import Places, Unnamed
from brownout.databases.postgresql import choice, milestones, storage
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.candidate import PostgresqlCandidate
from brownout.databases.postgresql.grants import SWITCHOVER
from brownout.databases.postgresql.link import Link
from brownout.databases.postgresql.scenarios import support
from brownout.databases.postgresql.settings import VARIABLE, living_directory, own_settings
from brownout.databases.postgresql.view import PRIMARY, View, look
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof, host_for

__all__ = ["PostgresqlAdapter", "PostgresqlMembers"]


class _Link(Protocol):
    def close(self) -> None: ...


#: Patroni stops the primary in order, with a checkpoint, and answers when another one leads.
_SWITCHOVER_S = 120.0
_POLL_S = 0.02
#: Patroni's own default (its documentation, "Dynamic Configuration Settings").
_TTL_S = 30.0


L = TypeVar("L", bound=_Link)


class PostgresqlMembers(Handover[L, View]):
    """A cluster of PostgreSQL, whatever promotes its members: what is asked of the servers."""

    TARGETS = choice.TARGETS
    #: Patroni answers from one interpreter, slowly on a busy machine.
    PATIENCE_S = 2.0

    def __init__(
        self, cluster: Cluster, links: Mapping[str, L], look: Callable[[Node, L], View]
    ) -> None:
        super().__init__(cluster, links, look, View)
        self._access = access(cluster)
        self._told: dict[str, View] = {}
        self._places = Places(storage.is_data)

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled())

    def signature(self) -> str:
        """Return a line that changes when the cluster notices a change; see `milestones`.

        A member that gives no answer in time counts as what it said last: it may be well.
        """
        views = self._polled()
        self._told |= {view.node: view for view in views if not view.timed_out}
        return milestones.signature_of([self._told.get(view.node, view) for view in views])

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the primary hand over to the replica that is furthest: a planned switchover.

        PostgreSQL's orderly shutdown sends all its WAL to the replicas that stream before it ends,
        so that one has caught up; `catch_up_s` does not change that. The proof is the old primary's
        own word, which it gives as soon as it begins to stop, before another one leads.
        """
        views = self._views()
        before = next(view for view in views if view.node == node.name)
        if before.error:
            raise ClusterError(before.error)
        if before.state != PRIMARY:
            return Proof(time.monotonic(), 0.0, {"state": before.state}, already=True)
        asked = last_primary = time.monotonic()
        target = self._successor(before, views)

        def look() -> View:
            nonlocal last_primary
            began, view = time.monotonic(), self._ask(node)
            if view.state == PRIMARY:
                last_primary = began
            return view

        def is_over(view: View) -> bool:
            return order.done() or (not view.error and view.state != PRIMARY)

        with ThreadPoolExecutor(1) as pool:
            order = pool.submit(self._switch, node, before, target)
            after = wait_until(look, _SWITCHOVER_S, _POLL_S, so=is_over)
            effective = time.monotonic()
            order.result()
        caught_up = time.monotonic()
        if after.state == PRIMARY:  # it was over before it could be seen
            after, effective = look(), time.monotonic()
        if after.state == PRIMARY:
            raise ClusterError(f"member `{node.name}` is still primary after it was to hand over")
        evidence: dict[str, Any] = {
            "state_before": before.state,
            "state": after.state,
            "handed_to": target.node,
            "caught_up_s": round(caught_up - asked, 3),
        }
        return Proof(effective, effective - last_primary, evidence)

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return support(scenario, self._cluster)

    def candidates(self) -> list[PostgresqlCandidate]:
        """Return every node, to ask each PostgreSQL by itself whether it accepts writes."""
        return [PostgresqlCandidate(n, self._access, self._timeout_s) for n in self._cluster.nodes]

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our login does not have: a role's by the primary's server."""
        return [
            grant
            for grant in grants
            for asked in grant.ask
            if not (
                self._may_switch()
                if asked == SWITCHOVER
                else self._grants(asked.format(namespace=namespace))
            )
        ]

    @abstractmethod
    def _may_switch(self) -> bool:
        """Return whether our login may have the primary hand over."""

    @abstractmethod
    def _switch(self, node: Node, primary: View, target: View) -> None:
        """Have `target` take over from the primary, and return when it has."""

    def _configured(self, node: Node, host: Host) -> Path:
        """Return the data directory, by the inventory unless an adapter knows a configuration.

        Raises `Unnamed` where it is not known.
        """
        directory = getattr(node.host, "server_directory", None)
        if directory is None:
            raise Unnamed(
                f"node `{node.name}`: its data directory is not known",
                "give it the node's `host.server_directory`, PostgreSQL's PGDATA",
            )
        return Path(directory)

    def _grants(self, question: str) -> bool:
        """Return what the primary's PostgreSQL answers; a login that it refuses raises."""
        for candidate in self.candidates():
            with closing(candidate):
                if candidate.claim().primary:
                    return candidate.answer(question) == "t"
        raise ClusterError(f"cluster `{self._cluster.name}` has no primary that could be asked")

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        return load_spec(self._cluster, "postgresql", access(self._cluster.as_the_load))

    def objections_to_orphan(self, node: Node, of_a_replica: bool) -> list[str]:
        """Return in words why the node's Patroni may not be killed alone; see `milestones`."""
        may_lose = bool(self._cluster.allow_data_loss)
        return milestones.objections_to_orphan(node.name, self._views(), of_a_replica, may_lose)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's data directory and what lies elsewhere: its log, its tablespaces.

        The data directory comes last. Raises `Refused` if it is not known for sure, if the living
        server or Patroni names another one, if they do not look like PostgreSQL's (unless their
        wipe has `begun`), if it is not where the inventory has the server, or if they are, hold or
        lie in the data directory of another node of the same machine.
        """
        host = host_for(node)
        living = self._living(node, host)

        def configured() -> list[Path]:
            directory = self._configured(node, host)
            return [*storage.linked(host, directory), directory]

        answered = None if living is None else [*storage.linked(host, living), living]
        footprint = host.footprint()
        directories = self._places.agreed(node, host, configured, answered, footprint)
        storage.check_named(node, directories[-1])
        for directory in [] if begun else directories:
            storage.check_contents(node, host, directory)
        apart.check(
            node,
            directories,
            self._cluster.nodes,
            lambda other, its: [self._configured(other, its)],
        )
        return directories

    def _living(self, node: Node, host: Host) -> Path | None:
        """Return the living server's data directory; Patroni's where the server may not be asked.

        None if the node is down. Raises `Refused` where neither tells.
        """
        candidate = PostgresqlCandidate(node, self._access, self._timeout_s)
        try:
            answer = candidate.answer("SHOW data_directory")
        except NoAnswer:
            answer = ""
        except ClusterError as error:
            footprint = host.footprint((VARIABLE,))
            started_with = None if footprint is None else living_directory(host, footprint)
            if started_with is None and host.running().running:
                raise Refused(
                    f"node `{node.name}`: where its data lie is not certain: its server does not "
                    f"answer `SHOW data_directory` ({error.message}), and how it was started "
                    "cannot be seen",
                    "give the role `pg_read_all_settings`",
                ) from error
            return started_with
        return Path(answer) if answer else None

    def _successor(self, primary: View, views: Sequence[View]) -> View:
        successor = milestones.successor_of(primary, views)
        if successor is None:
            raise ClusterError(
                f"member `{primary.node}` cannot hand over: no replica that may lead streams "
                "from it",
                "see that another member is healthy, and look at the tags of the others",
            )
        return successor


class PostgresqlAdapter(PostgresqlMembers[Link]):
    """Asks each member's Patroni directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        how, timeout_s = access(cluster), cluster.connection.timeout_s
        super().__init__(cluster, {n.name: Link(n, how, timeout_s) for n in cluster.nodes}, look)

    def failure_detection(self) -> FailureDetection | None:
        """Return how long Patroni's leader lock lives (`ttl`); None where no Patroni tells it."""
        for link in self._links.values():
            with suppress(ClusterError):
                return FailureDetection("ttl", float(link.ask("config").get("ttl", _TTL_S)))
        return None

    def _may_switch(self) -> bool:
        """Each Patroni has a login of its own in its configuration, so all of them are asked."""
        return not any(self._links[node.name].refuses(SWITCHOVER) for node in self._cluster.nodes)

    def _configured(self, node: Node, host: Host) -> Path:
        return storage.directory(node, own_settings(node, host))

    def _switch(self, node: Node, primary: View, target: View) -> None:
        with ordering(
            "the primary did not hand over",
            f"see that `{target.node}` is healthy and not far behind",
        ):
            self._links[node.name].order(
                "switchover", _SWITCHOVER_S, leader=primary.name, candidate=target.name
            )
