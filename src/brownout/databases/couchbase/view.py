"""What one node says of the bucket: of itself, of the other nodes, and of who has which vbucket."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.choice import Targets
from brownout.databases.couchbase.lab.server import VERSION
from brownout.databases.couchbase.link import Document, Link
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = ["MOCK", "TARGETS", "View", "look"]

#: What a mock says that it runs.
MOCK = "CouchbaseMock"
#: Every node that serves has active vbuckets.
TARGETS = Targets(secondary="random")
_ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class View(NodeView):
    """One node's answers; empty with `error` if it had none."""

    ROLES: ClassVar[Mapping[str, str]] = {"healthy": "primary"}

    #: The version that it says it runs, as `7.6.2-3721-enterprise`; empty if unknown.
    implementation: str = ""
    bucket: Document = field(default_factory=dict)

    @property
    def is_mock(self) -> bool:
        """Whether it says that it is a mock."""
        return self.implementation == MOCK

    @property
    def engine(self) -> str:
        """What it runs, as `Couchbase 7.6.2-3721-enterprise`; empty if unknown.

        A mock does not tell its version: it is the one that labs run.
        """
        if self.is_mock:
            return f"{MOCK} {VERSION} (a mock)"
        return f"Couchbase {self.implementation}" if self.implementation else ""

    @property
    def states(self) -> Mapping[str, str]:
        """What it says of every node: `{"10.0.0.1:11210": "healthy"}`, by its key-value address.

        A node that is not an active member has its membership instead, as `inactiveFailed`.
        """
        by_address = {}
        for entry in self.bucket.get("nodes", ()):
            host = str(entry.get("hostname", "")).rpartition(":")[0]
            member = str(entry.get("clusterMembership", ""))
            status = str(entry.get("status", ""))
            address = f"{host}:{entry.get('ports', {}).get('direct', '')}"
            by_address[address] = status if member == "active" else member
        return by_address

    @property
    def state(self) -> str:
        """Its own state: `healthy`, `warmup`, …; `absent` if it does not know itself."""
        if not self.bucket:
            return "unreachable"
        return self.states.get(self.address, _ABSENT)

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in self.ROLES

    @property
    def revision(self) -> int:
        """Of its map of vbuckets; -1 if unknown."""
        return int(self.bucket.get("rev", -1))

    @property
    def active(self) -> Mapping[str, int]:
        """How many active vbuckets each node has, by its map."""
        servers = self._map.get("serverList", ())
        owners = Counter(row[0] for row in self._rows if row)
        return {str(servers[index]): count for index, count in sorted(owners.items()) if index >= 0}

    @property
    def orphans(self) -> int:
        """How many vbuckets have no active copy, by its map."""
        return sum(1 for row in self._rows if not row or row[0] < 0)

    @property
    def uncopied(self) -> int:
        """How many vbuckets have fewer replicas than the bucket wants, by its map."""
        return sum(1 for row in self._rows if any(server < 0 for server in row[1:]))

    @property
    def _map(self) -> Mapping[str, Any]:
        map_of: Mapping[str, Any] = self.bucket.get("vBucketServerMap", {})
        return map_of

    @property
    def _rows(self) -> Sequence[Sequence[int]]:
        rows: Sequence[Sequence[int]] = self._map.get("vBucketMap", ())
        return rows

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts: dict[str, Any] = {"state": self.state, "role": self.role}
        if self.error:
            facts["error"] = self.error
        if self.bucket:
            facts |= {
                "implementation": self.implementation,
                "map_revision": self.revision,
                "nodes": dict(self.states),
                "active_vbuckets": dict(self.active),
            }
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one node; whatever goes wrong is in the view's `error`."""
    try:
        implementation = link.implementation()
        return View(node.name, node.address, implementation, link.bucket())
    except ClusterError as error:
        return View.without(node, error)
