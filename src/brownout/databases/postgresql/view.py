"""What one member says of itself at one moment: its Patroni, or where there is none, its server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.postgresql.link import CommandFailed, Link
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = ["PRIMARY", "REPLICA", "Listed", "View", "look"]

PRIMARY, REPLICA = "PRIMARY", "REPLICA"
#: Patroni 3 says `master`.
_LEADING = frozenset({"primary", "master", "standby_leader"})
#: Patroni 4 tells replicas by `streaming` in its list of members, 3.0 by `running`.
_SERVING = frozenset({"running", "streaming", "in archive recovery"})


@dataclass(frozen=True, slots=True)
class Listed:
    """A member as the cluster's store has it."""

    name: str
    leads: bool
    state: str
    timeline: int


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One member's answers to `/patroni` and `/cluster`; empty with `error` if it had none."""

    ROLES: ClassVar[Mapping[str, str]] = {PRIMARY: "primary", REPLICA: "secondary"}

    status: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[Listed, ...] = ()

    @property
    def name(self) -> str:
        """What Patroni calls it, or the primary that it streams from; empty if unknown."""
        return str(self._patroni.get("name") or self._receives.get("application_name") or "")

    @property
    def supervised(self) -> bool:
        """Whether something keeps a list of the cluster's members."""
        return bool(self._patroni)

    @property
    def upstream(self) -> str:
        """Of a replica without Patroni: where it streams from, host:port; else empty."""
        at = self._receives
        return f"{at.get('host')}:{at.get('port')}" if at else ""

    @property
    def cluster(self) -> str:
        """What Patroni calls its cluster, with PostgreSQL's own id of it; empty if unknown."""
        system = str(self.status.get("database_system_identifier", ""))
        scope = self._patroni.get("scope")
        return f"{scope}/{system}" if scope and system else system

    @property
    def state(self) -> str:
        """`PRIMARY`, `REPLICA`, what Patroni says if it does not serve, or `unreachable`."""
        if not self.status:
            return "unreachable"
        name = str(self.status.get("state", "unknown"))
        if name not in _SERVING:
            return name
        return PRIMARY if self.status.get("role") in _LEADING else REPLICA

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in self.ROLES

    @property
    def timeline(self) -> int:
        """The timeline of its WAL, which each promotion makes anew; -1 if unknown."""
        return int(self.status.get("timeline") or -1)

    @property
    def at(self) -> int:
        """How far it is, in bytes of WAL: written by a primary, replayed by a replica."""
        position = self._xlog.get("location", self._xlog.get("replayed_location"))
        return -1 if position is None else int(position)

    @property
    def has(self) -> int:
        """How much of the WAL it has, in bytes: a replica has received some that it replays later.

        What it restores from an archive it has not received, nor has it after a restart.
        """
        return max(self.at, int(self._xlog.get("received_location") or -1))

    @property
    def streams(self) -> Mapping[str, str]:
        """Of a primary: the replicas that stream from it, each with `async`, `sync`, …"""
        return {
            str(one.get("application_name", "")): str(one.get("sync_state", ""))
            for one in self.status.get("replication") or ()
            if one.get("state") == "streaming"
        }

    @property
    def may_lead(self) -> bool:
        """Whether its own tags let it be promoted; of one that says nothing, yes."""
        tags = self.status.get("tags") or {}
        return not tags.get("nofailover") and tags.get("failover_priority", 1) != 0

    @property
    def paused(self) -> bool:
        """Whether Patroni is told to leave the cluster alone (maintenance mode)."""
        return bool(self.status.get("pause"))

    @property
    def engine(self) -> str:
        """What it runs, as `PostgreSQL 18.6, Patroni 4.1.5`; empty if unknown."""
        number, patroni = int(self.status.get("server_version") or 0), self._patroni.get("version")
        server = f"PostgreSQL {number // 10000}.{number % 10000}"
        return (f"{server}, Patroni {patroni}" if patroni else server) if number else ""

    @property
    def _patroni(self) -> Mapping[str, Any]:
        part: Mapping[str, Any] = self.status.get("patroni", {})
        return part

    @property
    def _receives(self) -> Mapping[str, Any]:
        part: Mapping[str, Any] = self.status.get("receives") or {}
        return part

    @property
    def _xlog(self) -> Mapping[str, Any]:
        part: Mapping[str, Any] = self.status.get("xlog", {})
        return part

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            facts["error"] = self.error
        if self.status:
            facts |= {"name": self.name, "timeline": self.timeline, "wal_bytes": self.at}
        if self.upstream:
            facts["streams_from"] = self.upstream
        if self.state == PRIMARY:
            facts["streaming"] = dict(self.streams)
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one member; whatever goes wrong is in the view's `error`."""
    try:
        status, members = link.ask("patroni"), _members(link)
    except ClusterError as error:
        return View.without(node, error)
    if not status.get("patroni", {}).get("name"):
        status["patroni"] = {**status.get("patroni", {}), "name": _name_of(node, members)}
    return View(node.name, node.address, status, _listed(members))


def _members(link: Link) -> Sequence[Mapping[str, Any]]:
    """Ask for the members; none are listed while the store does not answer Patroni."""
    try:
        entries: Sequence[Mapping[str, Any]] = link.ask("cluster").get("members", ())
    except CommandFailed:
        return ()
    return entries


def _name_of(node: Node, members: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the member at the node's address; empty if none is listed there.

    Patroni 3.0 does not say its own name.
    """
    there = (one for one in members if f"{one.get('host')}:{one.get('port')}" == node.address)
    return str(next(there, {}).get("name", ""))


def _listed(members: Sequence[Mapping[str, Any]]) -> tuple[Listed, ...]:
    return tuple(
        Listed(
            str(one.get("name", "")),
            one.get("role") in ("leader", "standby_leader"),
            str(one.get("state", "")),
            int(one.get("timeline") or -1),
        )
        for one in members
    )
