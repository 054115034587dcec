"""Every call of the Administration API that we make, as data: nothing is sent here.

The paths, versions and roles are those of the API's OpenAPI description of 2026-08-18. The version
of a call is the date of its resource, which the server wants in the media type.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urlencode

from brownout.base.errors import ConfigurationError
from brownout.inventory.atlas import AtlasSpec

__all__ = [
    "Call",
    "change_cluster",
    "change_maintenance",
    "end_outage",
    "list_events",
    "list_processes",
    "read_cluster",
    "read_maintenance",
    "read_measurements",
    "read_outage",
    "read_status",
    "reset_maintenance",
    "restart_primaries",
    "shown",
    "start_outage",
]

Method = Literal["GET", "POST", "PATCH", "DELETE"]
#: The API refuses more names of measurements in one call.
MOST_MEASUREMENTS = 10
_READ, _MANAGE = "Project Read Only", "Project Cluster Manager"
_RESILIENCE, _OWNER = "Project Cluster Resilience Tester", "Project Owner"


@dataclass(frozen=True, slots=True)
class Call:
    """One request: `Call("GET", "/api/atlas/v2/groups/…/clusters/orders", "2024-08-05", …)`.

    `role` is the least that Atlas wants of the login. `repeatable` says whether sending it twice
    does no more than sending it once.
    """

    method: Method
    path: str
    version: str
    role: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    repeatable: bool = True

    @property
    def media_type(self) -> str:
        """Return what `Accept` says, and `Content-Type` where there is a body."""
        return f"application/vnd.atlas.{self.version}+json"

    def name(self) -> str:
        """Return it for messages: `GET /api/atlas/v2/…`."""
        return f"{self.method} {self.path}"


def shown(call: Call, spec: AtlasSpec) -> str:
    """Return what would be sent, in lines; it holds no login.

    POST https://cloud.mongodb.com/api/atlas/v2/groups/…/clusters/orders/restartPrimaries
      Accept: application/vnd.atlas.2023-02-01+json
    """
    query = f"?{urlencode(call.query, doseq=True)}" if call.query else ""
    lines = [f"{call.method} {spec.base_url}{call.path}{query}", f"  Accept: {call.media_type}"]
    if call.body is not None:
        lines += [f"  Content-Type: {call.media_type}", f"  {json.dumps(call.body)}"]
    return "\n".join(lines)


def read_cluster(spec: AtlasSpec) -> Call:
    """Ask what the cluster consists of, and what is done to it now."""
    return Call("GET", _cluster(spec), "2024-08-05", _READ)


def change_cluster(spec: AtlasSpec, change: Mapping[str, Any]) -> Call:
    """Have the cluster resized, paused or resumed: only what `change` names."""
    return Call("PATCH", _cluster(spec), "2024-10-23", _RESILIENCE, change)


def read_status(spec: AtlasSpec) -> Call:
    """Ask whether all changes that were requested are made."""
    return Call("GET", f"{_cluster(spec)}/status", "2023-01-01", _READ)


def restart_primaries(spec: AtlasSpec) -> Call:
    """Have every primary shut down and restarted; another time for every time that it is sent."""
    path = f"{_cluster(spec)}/restartPrimaries"
    return Call("POST", path, "2023-02-01", _MANAGE, repeatable=False)


def start_outage(spec: AtlasSpec, regions: Sequence[tuple[str, str]]) -> Call:
    """Have `regions`, each as `("AWS", "US_EAST_1")`, cut off from everybody."""
    filters = [
        {"cloudProvider": provider, "regionName": region, "type": "REGION"}
        for provider, region in regions
    ]
    body = {"outageFilters": filters}
    return Call("POST", _outage(spec), "2023-01-01", _RESILIENCE, body, repeatable=False)


def read_outage(spec: AtlasSpec) -> Call:
    """Ask how far an outage is."""
    return Call("GET", _outage(spec), "2023-01-01", _RESILIENCE)


def end_outage(spec: AtlasSpec) -> Call:
    """Have an outage ended."""
    return Call("DELETE", _outage(spec), "2023-01-01", _RESILIENCE)


def list_processes(spec: AtlasSpec) -> Call:
    """Ask for every mongod and mongos of the project."""
    return Call("GET", f"{_project(spec)}/processes", "2023-01-01", _READ)


def read_measurements(
    spec: AtlasSpec, process: str, names: Sequence[str], period: str = "PT15M"
) -> Call:
    """Ask for measurements of one process (`host:port`), a point a minute over `period`."""
    if not 0 < len(names) <= MOST_MEASUREMENTS:
        raise ConfigurationError(
            f"measurements: found {len(names)} names, wanted 1 to {MOST_MEASUREMENTS}"
        )
    path = f"{_project(spec)}/processes/{quote(process, safe=':')}/measurements"
    query = {"granularity": "PT1M", "period": period, "m": list(names)}
    return Call("GET", path, "2023-01-01", _READ, query=query)


def list_events(spec: AtlasSpec, since: str, until: str = "") -> Call:
    """Ask what Atlas noted about the cluster between two times in ISO 8601, UTC."""
    query: dict[str, str | Sequence[str]] = {"clusterNames": spec.cluster, "minDate": since}
    if until:
        query["maxDate"] = until
    return Call("GET", f"{_project(spec)}/events", "2023-01-01", _READ, query=query)


def read_maintenance(spec: AtlasSpec) -> Call:
    """Ask when the project's maintenance is."""
    return Call("GET", f"{_project(spec)}/maintenanceWindow", "2023-01-01", _READ)


def change_maintenance(spec: AtlasSpec, change: Mapping[str, Any]) -> Call:
    """Have the project's window moved, or with `startASAP` what is scheduled begun at once."""
    path = f"{_project(spec)}/maintenanceWindow"
    return Call("PATCH", path, "2023-01-01", _OWNER, change, repeatable=False)


def reset_maintenance(spec: AtlasSpec) -> Call:
    """Have the project without a window of its own, as it was before one was set."""
    return Call("DELETE", f"{_project(spec)}/maintenanceWindow", "2023-01-01", _OWNER)


def _project(spec: AtlasSpec) -> str:
    return f"/api/atlas/v2/groups/{spec.project}"


def _cluster(spec: AtlasSpec) -> str:
    return f"{_project(spec)}/clusters/{quote(spec.cluster, safe='')}"


def _outage(spec: AtlasSpec) -> str:
    return f"{_cluster(spec)}/outageSimulation"
