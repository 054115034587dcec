"""The adapter: asks all nodes in parallel and passes the answers to pure functions."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Refused, Unsupported
from brownout.databases import apart
from brownout.databases.access import by_password, load_spec
from brownout.databases.adapter import Milestone, MilestoneState, Support
from brownout.databases.cassandra import choice, copies, milestones, storage
from brownout.databases.cassandra.link import LOGIN, CommandFailed, Link
from brownout.databases.cassandra.settings import (
    living_settings,
    own_settings,
    properties,
    storagedir,
)
from brownout.databases.cassandra.view import View, look
from brownout.databases.node_answers import Asking
from brownout.databases.places import Places, Unnamed
from brownout.databases.scenarios import Scenarios
from brownout.inventory.model import Cluster, Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Proof, host_for

__all__ = ["SCENARIOS", "CassandraAdapter"]

_USUAL = "QUORUM"
#: Until a coordinator gives up on a replica, and then until the hint for it is on disk.
_WAITED = ("write_request_timeout", "counter_write_request_timeout")
_FLUSHED = "hints_flush_period"
_USUALLY_S = {"write_request_timeout": 2.0, "counter_write_request_timeout": 5.0, _FLUSHED: 10.0}
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}

SCENARIOS = Scenarios(
    database="Cassandra",
    need_another=frozenset({"partition", "wipe"}),
    impossible={"stepdown": "Cassandra has no leader, so no node can step down"},
    majority="quorum",
)


class CassandraAdapter(Asking[Link, View]):
    """Asks each node directly, in parallel, with `connection.timeout_s`."""

    TARGETS = choice.TARGETS

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.nodes}
        super().__init__(cluster, links, look, View)
        self._places = Places(storage.is_data)
        self._started_with: dict[str, Mapping[str, Any]] = {}
        self._seen_away: dict[str, float] = {}
        self._away: set[str] = set()  # at the last look
        self._settle_s: float | None = None

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`.

        A node was away until the first look of this adapter at which it was back. A run does not
        look while it has not put the node back.
        """
        views, now = self._looked(), time.monotonic()
        left = {node: seen - now for node, seen in self._seen_away.items()}
        if left:
            settle_s = self._settles_in(views)
            left = {node: at + settle_s for node, at in left.items() if at + settle_s > 0}
        return milestones.judge(milestone, views, left)

    def signature(self) -> str:
        """Return a line that changes when a node leaves, comes back or changes its state."""
        return milestones.signature_of(self._looked())

    def time_of(self, node: Node) -> float:
        """Return the time by the node's own clock, in seconds since 1970 (`currentTimestamp()`).

        Cassandra has that function since 4.0; its `now()` never goes back.
        """
        (row,) = self._links[node.name].rows(
            "toUnixTimestamp(currentTimestamp()) AS now FROM system.local"
        )
        return int(row["now"]) / 1000

    def drain(self, node: Node) -> Proof:
        """Raise `Unsupported`: Cassandra has no way to drain a node that keeps running."""
        raise Unsupported(f"node `{node.name}`: Cassandra hands no work over while a node runs")

    def undrain(self, node: Node) -> Proof:
        """Raise `Unsupported`, as `drain`."""
        return self.drain(node)

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Check a node without data: it has to replace itself and copy its data from the others.

        Raises `ClusterError` if its configuration would have it join as another node. A node with
        data is not checked.
        """
        if node.host is None or node.host.config_file is None:
            return {}
        host = host_for(node)
        settings = own_settings(node, host)
        if host.running().running or not storage.is_empty(host, settings):
            return {}
        try:
            storage.check_returns(node, settings, properties(node, host))
        except Refused as error:
            raise ClusterError(error.message, error.hint) from error
        return {"replaces_itself": True}

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Do nothing: the other nodes learn of it by gossip."""
        return {}

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        return SCENARIOS.support(scenario, self._cluster)

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        login = by_password(self._cluster.as_the_load, LOGIN)
        return load_spec(self._cluster, "cassandra", login)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `copies`.

        The load's consistency is taken from `connection.options`, into which a run merges its
        workload's options.
        """
        views = self._views()
        answering = [view for view in views if view.serves]
        if not answering:
            return ["no node serves, so it is not known where copies are"]
        rows = self._links[answering[0].node].rows(
            "keyspace_name, replication FROM system_schema.keyspaces"
        )
        return copies.lost_with(
            {node.name for node in nodes},
            views,
            {str(row["keyspace_name"]): row["replication"] for row in rows},
            str(self._cluster.connection.options.get("consistency", _USUAL)),
            bool(self._access.username),
        )

    def identity(self, node: Node) -> str:
        """Return when the node was given its id, in microseconds: a node that replaces itself keeps
        the id, and is given it anew.
        """
        (row,) = self._links[node.name].rows(
            "host_id, writetime(host_id) AS since FROM system.local"
        )
        return f"host id {row['host_id']} since {row['since']}"

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return where the node keeps data, commit log and hints, as its cassandra.yaml says.

        The living node is asked for them. Raises `Refused` if that is not known for sure, if the
        living node names others, if they do not look like Cassandra's (unless their wipe has
        `begun`), if the node would not come back without its data, or if they are, hold or lie in
        those of another node of the same machine.
        """
        host = host_for(node)
        footprint = host.footprint()
        given = properties(node, host)
        started_with = living_settings(host, footprint.command) if footprint else {}
        if started_with:
            self._started_with[node.name] = started_with
        settings = self._started_with.get(node.name, {})
        unnamed: Unnamed | None = None
        try:
            settings = own_settings(node, host)
        except Unnamed as error:
            unnamed = error

        def configured() -> list[Path]:
            if unnamed is not None:
                raise unnamed
            return storage.directories(node, settings, storagedir(node, host, given))

        living = self._living(node, settings, footprint)
        directories = self._places.agreed(node, host, configured, living, footprint)
        storage.check_returns(node, settings, given)
        for directory in [] if begun else directories:
            storage.check_contents(node, host, directory)
        apart.check(
            node,
            directories,
            self._cluster.nodes,
            lambda other, its: storage.directories(
                other, own_settings(other, its), storagedir(other, its, properties(other, its))
            ),
        )
        return directories

    def _living(
        self, node: Node, settings: Mapping[str, Any], footprint: Footprint | None
    ) -> list[Path] | None:
        """Return the directories that the living node names; None if it is down.

        One that does not let us ask, or is older than 4.0, is believed where its process is seen
        and its open files can be held against its configuration. Raises `Refused` otherwise.
        """
        names = ", ".join(f"'{name}'" for name in storage.NAMES)
        try:
            rows = self._links[node.name].rows(
                f"name, value FROM system_views.settings WHERE name IN ({names})"
            )
        except CommandFailed as error:
            if footprint is not None and any(map(storage.is_data, footprint.files)):
                return None
            raise Refused(
                f"node `{node.name}`: where its data lie is not certain: it does not answer what "
                f"its settings are ({error.message}), and its open files cannot be seen",
                "give the role SELECT on the keyspace system_views",
            ) from error
        except ClusterError:
            return None
        answer = {str(row["name"]): str(row["value"] or "") for row in rows}
        return storage.directories(node, storage.answered(answer, settings))

    def _looked(self) -> list[View]:
        """Ask every node, and note which ones are away or were at the look before."""
        views = self._polled()
        before, self._away = self._away, milestones.away(views)
        self._seen_away |= dict.fromkeys(before | self._away, time.monotonic())
        return views

    def _settles_in(self, views: Sequence[View]) -> float:
        """Return how long after an absence new hints may become visible, in seconds.

        Read from a node's own settings; Cassandra's defaults if no node answers or if its version
        has no such table (before 4).
        """
        for view in [view for view in views if view.serves and self._settle_s is None]:
            names = ", ".join(f"'{name}'" for name in (*_WAITED, _FLUSHED))
            try:
                rows = self._links[view.node].rows(
                    f"name, value FROM system_views.settings WHERE name IN ({names})",
                    self.PATIENCE_S,
                )
            except ClusterError:
                continue
            self._settle_s = _settles_in({str(row["name"]): str(row["value"]) for row in rows})
        return _settles_in({}) if self._settle_s is None else self._settle_s


def _settles_in(settings: Mapping[str, str]) -> float:
    """Return that time for settings like `{"hints_flush_period": "10s", …}`."""
    seconds = dict(_USUALLY_S)
    for name, value in settings.items():
        if (match := re.fullmatch(r"(\d+)(ms|s|m)", value)) is not None:
            seconds[name] = int(match[1]) * _UNITS[match[2]]
    return max(seconds[name] for name in _WAITED) + seconds[_FLUSHED]
