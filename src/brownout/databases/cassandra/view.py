"""What one node says of itself and of the others, at one moment.

It is asked by CQL, so no JMX is needed: `system.local` and `system.peers_v2`, and from version 5 on
the virtual tables `system_views.gossip_info` and `system_views.pending_hints`.
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
    """The last that a node heard of one of its cluster, itself included.

    `generation` is when that one started, in seconds since 1970, and `heartbeat` counts about one a
    second from then on.
    """

    status: str
    generation: int
    heartbeat: int


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One node's answers; empty with `error` if it had none.

    `peers` are the ids of the others that it knows; `heard` is by id what it last heard of each,
    and `hints` are the ids of those for whom it keeps writes that they missed. Both are None where
    its version does not tell.
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
        """`NORMAL`, `JOINING`, `LEAVING`, … by its own word, or `unreachable`."""
        if not self.local:
            return "unreachable"
        if self.local.get("bootstrapped") != _COMPLETED:
            return "JOINING"
        own = (self.heard or {}).get(self.id)
        return (own.status if own else "") or NORMAL

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
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
        """The version of the schema that it has."""
        return str(self.local.get("schema_version") or "")

    @property
    def generation(self) -> int:
        """When it started, in seconds since 1970; 0 if unknown."""
        return int(self.local.get("gossip_generation") or 0)

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        found: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            found["error"] = self.error
        if self.local:
            found |= {
                "host_id": self.id,
                "data_center": self.local.get("data_center"),
                "rack": self.local.get("rack"),
                "generation": self.generation,
                "schema_version": self.schema,
                "keeps_hints_for": None if self.hints is None else sorted(self.hints),
            }
        return found


def look(node: Node, link: Link) -> View:
    """Ask one node; whatever goes wrong is in the view's `error`."""
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
    """Ask for what only newer versions have."""
    try:
        return link.rows(what)
    except CommandFailed as error:
        if error.unknown_table:
            return None
        raise


def _heard(rows: Sequence[Row]) -> dict[str, Heard]:
    """Return by id what was heard; the status is the first word of `NORMAL,-307445734561825`."""
    return {
        str(row["host_id"]): Heard(
            str(row.get("status_with_port") or row.get("status") or "").partition(",")[0],
            int(row.get("generation") or 0),
            int(row.get("heartbeat") or 0),
        )
        for row in rows
        if row.get("host_id")
    }
