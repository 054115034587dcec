"""What one node says of itself and of the others, at one moment.

All of it comes by CQL, without JMX: from `system.local` and `system.peers_v2`, and since version 5
from the virtual tables `system_views.gossip_info` and `system_views.pending_hints`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.cassandra.link import CommandFailed, Link, Row
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = ["NORMAL", "Heard", "View", "look"]

NORMAL = "NORMAL"
_COMPLETED = "COMPLETED"


@dataclass(frozen=True, slots=True)
class Heard:
    """The latest news that a node has of another one, or of itself.

    `generation` is when that node started, in seconds since 1970; `heartbeat` has increased about
    once a second since then.
    """

    status: str
    generation: int
    heartbeat: int


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One node's answers; empty with `error` if it had none.

    `peers` are the ids of the other nodes that it knows. `heard` has its latest news of each node,
    by id, and `hints` the ids of the nodes for which it keeps hints; both are None if its version
    does not report them.
    """

    ROLES: ClassVar[Mapping[str, str]] = {NORMAL: "primary"}  # each accepts writes

    local: Mapping[str, Any] = field(default_factory=dict)
    peers: frozenset[str] = frozenset()
    heard: Mapping[str, Heard] | None = None
    hints: frozenset[str] | None = None

    @property
    def id(self) -> str:
        """Its own id, which it keeps when it is replaced under its own address."""
        return str(self.local.get("host_id") or "")

    @property
    def cluster(self) -> str:
        """The name of its cluster; empty if unknown."""
        return str(self.local.get("cluster_name") or "")

    @property
    def state(self) -> str:
        """Its state by its own account, `NORMAL`, `JOINING`, `LEAVING`, …, or `unreachable`."""
        if not self.local:
            return "unreachable"
        if self.local.get("bootstrapped") != _COMPLETED:
            return "JOINING"
        own = (self.heard or {}).get(self.id)
        return (own.status if own else "") or NORMAL

    @property
    def serves(self) -> bool:
        """Whether it serves clients."""
        return self.state == NORMAL

    @property
    def engine(self) -> str:
        """What it runs, as `Cassandra 5.0.5`; empty if unknown."""
        if dse := self.local.get("dse_version"):
            return f"DataStax Enterprise {dse}"
        release = self.local.get("release_version")
        return f"Cassandra {release}" if release else ""

    @property
    def schema(self) -> str:
        """The version of its schema."""
        return str(self.local.get("schema_version") or "")

    @property
    def generation(self) -> int:
        """When it started, in seconds since 1970; 0 if unknown."""
        return int(self.local.get("gossip_generation") or 0)

    def evidence(self) -> dict[str, Any]:
        """Return its answers, in short, for JSON."""
        facts: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            facts["error"] = self.error
        if self.local:
            facts |= {
                "host_id": self.id,
                "data_center": self.local.get("data_center"),
                "rack": self.local.get("rack"),
                "generation": self.generation,
                "schema_version": self.schema,
                "keeps_hints_for": None if self.hints is None else sorted(self.hints),
            }
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one node; a failure is in the view's `error`."""
    try:
        (local,) = link.rows("* FROM system.local WHERE key = 'local'")
        peers = frozenset(str(row["host_id"]) for row in link.rows("host_id FROM system.peers_v2"))
        own = str(local.get("host_id"))
        heard = _optional(link, "* FROM system_views.gossip_info")
        hints = _optional(link, "host_id FROM system_views.pending_hints")
    except ClusterError as error:
        return View.without(node, error)
    return View(
        node.name,
        node.address,
        local,
        peers,
        None if heard is None else _heard(heard),
        None if hints is None else frozenset(str(row["host_id"]) for row in hints) - {own},
    )


def _optional(link: Link, what: str) -> list[Row] | None:
    """Return the rows of a table that only newer versions have; None without it."""
    try:
        return link.rows(what)
    except CommandFailed as error:
        if error.unknown_table:
            return None
        raise


def _heard(rows: Sequence[Row]) -> dict[str, Heard]:
    """Return the news by id; the status is the first word of `NORMAL,-307445734561825`."""
    return {
        str(row["host_id"]): Heard(
            str(row.get("status_with_port") or row.get("status") or "").partition(",")[0],
            int(row.get("generation") or 0),
            int(row.get("heartbeat") or 0),
        )
        for row in rows
        if row.get("host_id")
    }
