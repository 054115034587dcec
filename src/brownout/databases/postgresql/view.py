"""What one member's Patroni says of itself and its PostgreSQL, at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.postgresql.link import CommandFailed, Link
from brownout.inventory.model import Node

__all__ = ["PRIMARY", "REPLICA", "Listed", "View", "look", "reasons", "without"]

PRIMARY, REPLICA = "PRIMARY", "REPLICA"
_ROLES = {PRIMARY: "primary", REPLICA: "secondary"}
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
class View:
    """One member's answers to `/patroni` and `/cluster`; empty with `error` if it had none.

    `timed_out` says that it did not answer in time, so that it may be well.
    """

    node: str
    address: str
    status: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[Listed, ...] = ()
    error: str = ""
    timed_out: bool = False

    @property
    def name(self) -> str:
        """What Patroni calls it; empty if unknown."""
        return str(self._patroni.get("name", ""))

    @property
    def scope(self) -> str:
        """What Patroni calls its cluster, with PostgreSQL's own id of it; empty if unknown."""
        system = self.status.get("database_system_identifier", "")
        return f"{self._patroni.get('scope', '')}/{system}" if system else ""

    @property
    def state(self) -> str:
        """`PRIMARY`, `REPLICA`, what Patroni says if it does not serve, or `unreachable`."""
        if not self.status:
            return "unreachable"
        said = str(self.status.get("state", "unknown"))
        if said not in _SERVING:
            return said
        return PRIMARY if self.status.get("role") in _LEADING else REPLICA

    @property
    def role(self) -> str:
        """`primary`, `secondary`, `other` or, if it does not answer, `unknown`."""
        return _ROLES.get(self.state, "other" if self.status else "unknown")

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in _ROLES

    @property
    def timeline(self) -> int:
        """The timeline of its WAL, which each promotion makes anew; -1 if unknown."""
        return int(self.status.get("timeline") or -1)

    @property
    def at(self) -> int:
        """How far it is, in bytes of WAL: written by a primary, replayed by a replica."""
        found = self._xlog.get("location", self._xlog.get("replayed_location"))
        return -1 if found is None else int(found)

    @property
    def streams(self) -> Mapping[str, str]:
        """Of a primary: the replicas that stream from it, each with `async`, `sync`, …"""
        return {
            str(one.get("application_name", "")): str(one.get("sync_state", ""))
            for one in self.status.get("replication") or ()
            if one.get("state") == "streaming"
        }

    @property
    def paused(self) -> bool:
        """Whether Patroni is told to leave the cluster alone (maintenance mode)."""
        return bool(self.status.get("pause"))

    @property
    def version(self) -> str:
        """PostgreSQL's version, as `18.6`; empty if unknown."""
        number = int(self.status.get("server_version") or 0)
        return f"{number // 10000}.{number % 10000}" if number else ""

    @property
    def patroni(self) -> str:
        """Patroni's version; empty if unknown."""
        return str(self._patroni.get("version", ""))

    @property
    def _patroni(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.status.get("patroni", {})
        return found

    @property
    def _xlog(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.status.get("xlog", {})
        return found

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        found: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            found["error"] = self.error
        if self.status:
            found |= {"name": self.name, "timeline": self.timeline, "wal_bytes": self.at}
        if self.state == PRIMARY:
            found["streaming"] = dict(self.streams)
        return found


def look(node: Node, link: Link) -> View:
    """Ask one member; whatever goes wrong is in the view's `error`."""
    try:
        return View(node.name, node.address, link.ask("patroni"), _listed(link))
    except ClusterError as error:
        return without(node, error)


def without(node: Node, error: ClusterError) -> View:
    """Return what is known of one that gave no answer."""
    return View(node.name, node.address, error=error.message, timed_out=isinstance(error, NoAnswer))


def _listed(link: Link) -> tuple[Listed, ...]:
    """Ask for the members; none are listed while the store does not answer Patroni."""
    try:
        cluster = link.ask("cluster")
    except CommandFailed:
        return ()
    return tuple(
        Listed(
            str(one.get("name", "")),
            one.get("role") in ("leader", "standby_leader"),
            str(one.get("state", "")),
            int(one.get("timeline") or -1),
        )
        for one in cluster.get("members", ())
    )


def reasons(views: Sequence[View]) -> str:
    """Return why members do not answer, each one's own reason."""
    return "; ".join(view.error for view in views if view.error)
