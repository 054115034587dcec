"""What the local API knows of its cluster: data, and how requests and work change it. No effects.

IDLE ──request──▶ UPDATING, PENDING ──work done──▶ IDLE, APPLIED
"""

import copy
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from brownout.inventory.model import Node

__all__ = ["PROVIDER", "Book", "now", "region_of", "specification"]

PROVIDER = "AWS"

_OUTAGE_LASTS = timedelta(days=3)
_ROLES = {"primary": "REPLICA_PRIMARY", "secondary": "REPLICA_SECONDARY"}
_TIER, _DISK_GB, _LONE = "M30", 40.0, "LAB"


@dataclass
class Book:
    """One cluster as the API tells it; times are ISO 8601."""

    project: str
    name: str
    version: str
    specs: list[dict[str, Any]]
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:24])
    paused: bool = False
    state: str = "IDLE"
    outage: dict[str, Any] | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    window: dict[str, Any] = field(default_factory=dict)

    def cluster(self) -> dict[str, Any]:
        """Return the cluster as `GET …/clusters/{clusterName}` answers."""
        return {
            "id": self.id,
            "groupId": self.project,
            "name": self.name,
            "clusterType": "REPLICASET",
            "mongoDBVersion": self.version,
            "paused": self.paused,
            "replicationSpecs": copy.deepcopy(self.specs),
            "stateName": self.state,
        }

    def process(self, node: Node, role: str) -> dict[str, Any]:
        """Return one member, which says that it has `role`, as `listGroupProcesses` answers."""
        host, _, port = node.address.rpartition(":")
        return {
            "id": node.address,
            "hostname": host,
            "port": int(port),
            "userAlias": node.name,
            "typeName": _ROLES.get(role, "NO_DATA"),
            "groupId": self.project,
            "replicaSetName": self.name,
            "version": self.version,
            "lastPing": now(),
        }

    def note(self, kind: str) -> None:
        """Write down an event, the newest first."""
        self.events.insert(
            0,
            {
                "id": uuid.uuid4().hex[:24],
                "eventTypeName": kind,
                "created": now(),
                "groupId": self.project,
                "clusterName": self.name,
            },
        )

    def begin_outage(self, filters: Sequence[dict[str, Any]]) -> None:
        """Write down that an outage was asked for."""
        ends = datetime.now(UTC) + _OUTAGE_LASTS
        self.outage = {
            "id": uuid.uuid4().hex[:24],
            "groupId": self.project,
            "clusterName": self.name,
            "outageFilters": list(filters),
            "startRequestDate": now(),
            "expirationDate": ends.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "state": "START_REQUESTED",
        }

    def outage_is(self, state: str) -> None:
        """Write down how far the outage is; one that is COMPLETE is over and forgotten."""
        if self.outage is not None:
            self.outage["state"] = state
        if state == "COMPLETE":
            self.outage = None

    def maintenance(self) -> dict[str, Any]:
        """Return the project's window as `GET …/maintenanceWindow` answers; day 0 for none."""
        fixed = {"dayOfWeek": 0, "numberOfDeferrals": 0, "startASAP": False, "timeZoneId": "UTC"}
        return {**fixed, **self.window}


def now() -> str:
    """Return the time as the API writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def region_of(node: Node) -> str:
    """Return the region that a node of the lab is in: its rack, in Atlas's way of writing."""
    return f"LAB_{node.rack.upper()}" if node.rack else _LONE


def specification(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Return the one replica set of `nodes` as `replicationSpecs`: a region for each rack."""
    regions = list(dict.fromkeys(region_of(node) for node in nodes))
    return [
        {
            "id": uuid.uuid4().hex[:24],
            "zoneId": uuid.uuid4().hex[:24],
            "zoneName": "Zone 1",
            "regionConfigs": [
                {
                    "providerName": PROVIDER,
                    "regionName": region,
                    "priority": 7 - number,
                    "electableSpecs": {
                        "instanceSize": _TIER,
                        "nodeCount": sum(region_of(node) == region for node in nodes),
                        "diskSizeGB": _DISK_GB,
                    },
                }
                for number, region in enumerate(regions)
            ],
        }
    ]
