"""What one member says of itself and of the others, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.etcd.link import Link
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = ["LEADER", "Entry", "View", "look", "members_by"]

LEADER = "LEADER"


@dataclass(frozen=True, slots=True)
class Entry:
    """A member as the cluster lists it; one without a name has not started yet."""

    id: str
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    learner: bool = False


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One member's answers to `Status` and `MemberList`; empty with `error` if it had none."""

    ROLES: ClassVar[Mapping[str, str]] = {LEADER: "primary", "FOLLOWER": "secondary"}

    status: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[Entry, ...] = ()

    @property
    def id(self) -> str:
        """Its own id; empty if unknown."""
        return str(self._header.get("member_id", ""))

    @property
    def cluster(self) -> str:
        """The id of its cluster; empty if unknown."""
        return str(self._header.get("cluster_id", ""))

    @property
    def leader(self) -> str:
        """The id of the leader that it knows; empty for none."""
        return str(self.status.get("leader", "0")).removeprefix("0")

    @property
    def state(self) -> str:
        """`LEADER`, `FOLLOWER`, `LEARNER`, `LEADERLESS` or `unreachable`."""
        if not self.status:
            return "unreachable"
        if self.status.get("isLearner"):
            return "LEARNER"
        if not self.leader:
            return "LEADERLESS"
        return LEADER if self.leader == self.id else "FOLLOWER"

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in self.ROLES and not self.corrupt

    @property
    def corrupt(self) -> bool:
        """Whether an alarm reports that a member's data is corrupt."""
        return any("CORRUPT" in alarm for alarm in self.alarms)

    @property
    def alarms(self) -> tuple[str, ...]:
        """What stands in the way of writes by its own account, as an alarm of its disk quota."""
        errors = (str(error) for error in self.status.get("errors", ()))
        return tuple(error for error in errors if "alarm" in error.lower())

    @property
    def term(self) -> int:
        """The election term it is in; -1 if unknown."""
        return int(self.status.get("raftTerm", -1))

    @property
    def applied(self) -> int:
        """The index of the last entry of the log that it applied; -1 if unknown.

        Members of before 3.4 do not tell it, and then it is that of the last committed one.
        """
        return int(self.status.get("raftAppliedIndex", self.status.get("raftIndex", -1)))

    @property
    def engine(self) -> str:
        """What it runs, as `etcd 3.7.3`; empty if unknown."""
        version = self.status.get("version")
        return f"etcd {version}" if version else ""

    @property
    def _header(self) -> Mapping[str, Any]:
        header: Mapping[str, Any] = self.status.get("header", {})
        return header

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            facts["error"] = self.error
        if self.status:
            facts |= {
                "cluster_id": self.cluster,
                "term": self.term,
                "member_id": self.id,
                "applied_index": self.applied,
                "revision": int(self._header.get("revision", 0)),
                "db_bytes": int(self.status.get("dbSize", 0)),
            }
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one member; whatever goes wrong is in the view's `error`."""
    try:
        status = link.ask("maintenance/status")
        return View(node.name, node.address, status, members_by(link))
    except ClusterError as error:
        return View.without(node, error)


def members_by(link: Link) -> tuple[Entry, ...]:
    """Return the members as this one has them.

    That is in its own data: the gateway leaves `linearizable` at false, where a member has it.
    """
    listed = link.ask("cluster/member/list").get("members", ())
    return tuple(
        Entry(
            str(entry["ID"]),
            str(entry.get("name", "")),
            tuple(entry.get("peerURLs", ())),
            tuple(entry.get("clientURLs", ())),
            bool(entry.get("isLearner", False)),
        )
        for entry in listed
    )
