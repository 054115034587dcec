"""What the Administration API takes and answers: schemas written by us from its documentation.

The source is the OpenAPI description "MongoDB Atlas Administration API 2.0" as published with the
official Go SDK on 2026-08-18; its newest version of a resource is 2025-03-12. Only what brownout
uses is here. `check_request` is what a strict server would want of a request, `check_answer` what a
strict client would want of an answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}


def _object(properties: Schema, required: list[str] | None = None, more: bool = True) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required or [],
        "additionalProperties": more,
    }


HARDWARE = _object(
    {
        "instanceSize": {"type": "string", "pattern": r"^[MR][0-9]+(_NVME)?$"},
        "nodeCount": {"type": "integer", "minimum": 0},
        "diskSizeGB": {"type": "number", "exclusiveMinimum": 0},
        "diskIOPS": WHOLE,
        "ebsVolumeType": {"enum": ["STANDARD", "PROVISIONED"]},
    },
    more=False,
)
REGION = _object(
    {
        "providerName": {"enum": ["AWS", "AZURE", "GCP", "TENANT"]},
        "regionName": TEXT,
        "priority": {"type": "integer", "minimum": 0, "maximum": 7},
        "electableSpecs": HARDWARE,
        "readOnlySpecs": HARDWARE,
        "analyticsSpecs": HARDWARE,
        "autoScaling": {"type": "object"},
        "analyticsAutoScaling": {"type": "object"},
    },
    ["providerName", "regionName"],
    more=False,
)
#: `id` is how a changed specification is matched with the shard that it is of.
SPECS: Schema = {
    "type": "array",
    "minItems": 1,
    "items": _object(
        {
            "id": TEXT,
            "zoneName": TEXT,
            "regionConfigs": {"type": "array", "minItems": 1, "items": REGION},
        },
        ["regionConfigs"],
        more=False,
    ),
}
CHANGE: Schema = {
    **_object(
        {
            "paused": {"type": "boolean"},
            "clusterType": {"enum": ["REPLICASET", "SHARDED", "GEOSHARDED"]},
            "replicationSpecs": SPECS,
        },
        more=False,
    ),
    "minProperties": 1,
}
OUTAGE: Schema = _object(
    {
        "outageFilters": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "cloudProvider": {"enum": ["AWS", "AZURE", "GCP"]},
                    "regionName": {"type": "string", "pattern": "^[A-Z0-9_]+$"},
                    "type": {"const": "REGION"},
                },
                ["cloudProvider", "regionName", "type"],
                more=False,
            ),
        }
    },
    ["outageFilters"],
    more=False,
)
WINDOW = _object(
    {
        "dayOfWeek": {"type": "integer", "minimum": 1, "maximum": 7},
        "hourOfDay": {"type": "integer", "minimum": 0, "maximum": 23},
        "startASAP": {"type": "boolean"},
        "autoDeferOnceEnabled": {"type": "boolean"},
    },
    ["dayOfWeek"],
    more=False,
)


TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{24}$"}
ERROR = _object(
    {"error": WHOLE, "errorCode": TEXT, "detail": TEXT, "reason": TEXT, "parameters": {}},
    ["error", "errorCode"],
)
CLUSTER = _object(
    {
        "id": ID,
        "groupId": ID,
        "name": TEXT,
        "clusterType": {"enum": ["REPLICASET", "SHARDED", "GEOSHARDED"]},
        "mongoDBVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        "paused": {"type": "boolean"},
        "stateName": {"enum": ["IDLE", "CREATING", "UPDATING", "DELETING", "REPAIRING"]},
        "replicationSpecs": {
            "type": "array",
            "items": _object({"id": TEXT, "zoneId": TEXT, "regionConfigs": {"items": REGION}}),
        },
    },
    ["name", "stateName", "clusterType", "paused", "replicationSpecs"],
)
_PHASES = "START_REQUESTED STARTING SIMULATING RECOVERY_REQUESTED RECOVERING COMPLETE"
SIMULATION = _object(
    {
        "id": ID,
        "groupId": ID,
        "clusterName": TEXT,
        "state": {"enum": _PHASES.split()},
        "outageFilters": OUTAGE["properties"]["outageFilters"],
        "startRequestDate": TIME,
        "expirationDate": TIME,
    },
    ["id", "state", "outageFilters", "startRequestDate"],
)
STATUS = _object({"changeStatus": {"enum": ["APPLIED", "PENDING"]}}, ["changeStatus"])
PROCESS = _object(
    {
        "id": {"type": "string", "pattern": r"^[A-Za-z0-9.-]+:\d+$"},
        "hostname": TEXT,
        "port": WHOLE,
        "groupId": ID,
        "typeName": {"enum": ["REPLICA_PRIMARY", "REPLICA_SECONDARY", "RECOVERING", "NO_DATA"]},
        "userAlias": TEXT,
        "replicaSetName": TEXT,
        "version": TEXT,
        "lastPing": TIME,
    },
    ["id", "hostname", "port", "typeName"],
)
EVENT = _object({"id": ID, "eventTypeName": TEXT, "created": TIME}, ["id", "eventTypeName"])
POINT = _object({"timestamp": TIME, "value": {"type": ["number", "null"]}}, ["timestamp"])
MEASURED = _object(
    {
        "processId": TEXT,
        "groupId": ID,
        "granularity": TEXT,
        "measurements": {
            "type": "array",
            "items": _object(
                {"name": TEXT, "units": TEXT, "dataPoints": {"type": "array", "items": POINT}},
                ["name", "dataPoints"],
            ),
        },
    },
    ["processId", "measurements"],
)

#: `dayOfWeek` is required of a window; what is answered where there is none is not documented.
MAINTENANCE = _object(
    {
        "dayOfWeek": {"type": "integer", "minimum": 0, "maximum": 7},
        "hourOfDay": {"type": "integer", "minimum": 0, "maximum": 23},
        "numberOfDeferrals": WHOLE,
        "startASAP": {"type": "boolean"},
        "timeZoneId": TEXT,
    },
    ["dayOfWeek"],
)


def _list(entry: Schema) -> Schema:
    return _object({"results": {"type": "array", "items": entry}}, ["results"])


@dataclass(frozen=True)
class Endpoint:
    """One call of the API: its path, the versions of its resource, its body, query and answer."""

    method: str
    path: str
    versions: tuple[str, ...]
    body: Schema | None = None
    query: tuple[str, ...] = ()
    answer: Schema | None = None


_GROUP = r"/api/atlas/v2/groups/[0-9a-f]{24}"
_CLUSTER = rf"{_GROUP}/clusters/[A-Za-z0-9-]{{1,64}}"
_PAGED = ("itemsPerPage", "pageNum", "includeCount")
ENDPOINTS = (
    Endpoint("GET", _CLUSTER, ("2024-08-05",), answer=CLUSTER),
    Endpoint("PATCH", _CLUSTER, ("2024-10-23",), CHANGE, answer=CLUSTER),
    Endpoint("GET", rf"{_CLUSTER}/status", ("2023-01-01",), answer=STATUS),
    Endpoint("POST", rf"{_CLUSTER}/restartPrimaries", ("2023-02-01",)),
    Endpoint("POST", rf"{_CLUSTER}/outageSimulation", ("2023-01-01",), OUTAGE, answer=SIMULATION),
    Endpoint("GET", rf"{_CLUSTER}/outageSimulation", ("2023-01-01",), answer=SIMULATION),
    Endpoint("DELETE", rf"{_CLUSTER}/outageSimulation", ("2023-01-01",), answer=SIMULATION),
    Endpoint("GET", rf"{_GROUP}/processes", ("2023-01-01",), query=_PAGED, answer=_list(PROCESS)),
    Endpoint(
        "GET",
        rf"{_GROUP}/processes/[A-Za-z0-9.-]+:[0-9]+/measurements",
        ("2023-01-01",),
        query=("m", "granularity", "period", "start", "end"),
        answer=MEASURED,
    ),
    Endpoint(
        "GET",
        rf"{_GROUP}/events",
        ("2023-01-01",),
        query=(*_PAGED, "clusterNames", "eventType", "minDate", "maxDate"),
        answer=_list(EVENT),
    ),
    Endpoint("GET", rf"{_GROUP}/maintenanceWindow", ("2023-01-01",), answer=MAINTENANCE),
    Endpoint("PATCH", rf"{_GROUP}/maintenanceWindow", ("2023-01-01",), WINDOW),
    Endpoint("DELETE", rf"{_GROUP}/maintenanceWindow", ("2023-01-01",)),
)


def check_request(method: str, target: str, headers: Mapping[str, str], body: Any) -> list[str]:
    """Return what a strict server would find wrong with a request, in words."""
    parts = urlsplit(target)
    matching = [e for e in ENDPOINTS if e.method == method and re.fullmatch(e.path, parts.path)]
    if not matching:
        return [f"{method} {parts.path} is no documented call"]
    (endpoint,) = matching
    types = [f"application/vnd.atlas.{version}+json" for version in endpoint.versions]
    problems = [] if headers.get("Accept") in types else [f"Accept: {headers.get('Accept')}"]
    unknown = set(parse_qs(parts.query)) - set(endpoint.query)
    problems += [f"unknown in the query: {sorted(unknown)}"] if unknown else []
    if endpoint.body is None:
        return problems + (["found a body, wanted none"] if body is not None else [])
    if headers.get("Content-Type") not in types:
        problems.append(f"Content-Type: {headers.get('Content-Type')}")
    found = jsonschema.Draft202012Validator(endpoint.body).iter_errors(body)
    return problems + [f"{error.json_path}: {error.message}" for error in found]


def check_answer(method: str, path: str, status: int, body: Any) -> list[str]:
    """Return what is not as documented in an answer, in words; 204 comes without a body."""
    if status == 204:
        return [] if body is None else [f"{method} {path}: found a body, wanted none"]
    matching = [e for e in ENDPOINTS if e.method == method and re.fullmatch(e.path, path)]
    schema = (matching[0].answer or {}) if matching else ERROR
    found = jsonschema.Draft202012Validator(schema if status == 200 else ERROR).iter_errors(body)
    return [f"{method} {path}: {error.json_path}: {error.message}" for error in found]
