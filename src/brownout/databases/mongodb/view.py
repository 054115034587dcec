"""What one member says of itself and of the others, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.mongodb.initial_sync import copying
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = ["PRIMARY", "STATES", "View", "look"]

#: `myState` of replSetGetStatus, in the server's own words.
STATES = (
    *("STARTUP", "PRIMARY", "SECONDARY", "RECOVERING", "UNUSED", "STARTUP2", "UNKNOWN"),
    *("ARBITER", "DOWN", "ROLLBACK", "REMOVED"),
)
PRIMARY = "PRIMARY"


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One member's answers to `hello` and `replSetGetStatus`; empty with `error` if it had none."""

    ROLES: ClassVar[Mapping[str, str]] = {"PRIMARY": "primary", "SECONDARY": "secondary"}

    hello: Mapping[str, Any] = field(default_factory=dict)
    status: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """Its state, as `SECONDARY`; `unreachable` or `uninitiated` where it has none."""
        if self.status:
            number = int(self.status["myState"])
            return STATES[number] if number < len(STATES) else f"state {number}"
        if self.is_arbiter:  # that has no users, so that it tells us no more
            return "ARBITER"
        return "uninitiated" if self.hello else "unreachable"

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for; an arbiter holds no data but votes."""
        return self.state in {"PRIMARY", "SECONDARY", "ARBITER"}

    @property
    def is_arbiter(self) -> bool:
        """Whether it holds no data but votes, by its own account."""
        return bool(self.hello.get("arbiterOnly"))

    @property
    def term(self) -> int:
        """The election term it is in; -1 if unknown."""
        return int(self.status.get("term", -1))

    @property
    def applied(self) -> datetime | None:
        """When the primary made the last write that this member has, by the primary's clock."""
        return self._optimes.get("lastAppliedWallTime")

    @property
    def applied_term(self) -> int:
        """The term of its last write."""
        return _term(self._optimes.get("appliedOpTime"))

    @property
    def committed(self) -> datetime | None:
        """When the last write that it knows a majority to have was made."""
        return self._optimes.get("lastCommittedWallTime")

    @property
    def committed_term(self) -> int:
        """The term of that write."""
        return _term(self._optimes.get("lastCommittedOpTime"))

    @property
    def syncs_initially(self) -> bool:
        """Whether it copies all data from another member now."""
        return self.state == "STARTUP2" or "initialSyncStatus" in self.status

    @property
    def delay_s(self) -> int:
        """How far it is configured to stay behind."""
        return int(self.hello.get("secondaryDelaySecs", 0))

    @property
    def process(self) -> str:
        """The id of its server process, another one after each restart."""
        return str(self.hello.get("topologyVersion", {}).get("processId", ""))

    @property
    def others(self) -> dict[str, int]:
        """The set's members by address, and whether it sees each one up (1) or not (0)."""
        members = self.status.get("members", ())
        return {str(member["name"]): int(member["health"]) for member in members}

    @property
    def _optimes(self) -> Mapping[str, Any]:
        optimes: Mapping[str, Any] = self.status.get("optimes", {})
        return optimes

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            facts["error"] = self.error
        if self.status:
            facts |= {
                "set": str(self.status.get("set", "")),
                "term": self.term,
                "uptime_s": self._uptime_s,
                "applied": self.applied.isoformat() if self.applied else None,
                "process_id": self.process,
            }
            progress = copying(self.status)
            if progress is not None:
                facts["initial_sync"] = progress.evidence()
        return facts

    @property
    def _uptime_s(self) -> int:
        members = self.status.get("members", ())
        return next((int(m.get("uptime", 0)) for m in members if m.get("self")), 0)


def look(node: Node, link: Link) -> View:
    """Ask one member; whatever goes wrong is in the view's `error`."""
    try:
        hello = link.ask("hello")
    except ClusterError as error:
        return View.without(node, error)
    try:
        status = link.ask("replSetGetStatus")
    except CommandFailed as error:
        view = View(node.name, node.address, hello)
        return view if view.is_arbiter else replace(view, error=str(error))
    except ClusterError as error:
        return View.without(node, error)
    return View(node.name, node.address, hello, status)


def _term(optime: Any) -> int:
    return int(optime["t"]) if isinstance(optime, Mapping) and "t" in optime else -1
