"""What the API answers: strict in what we use, and open for more.

The names are Atlas's in snake case; those that it may leave out have a default. Times are UTC.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from brownout.errors import ClusterError

__all__ = [
    "Answer",
    "AtlasCluster",
    "AtlasEvent",
    "ChangeStatus",
    "MaintenanceWindow",
    "Measurement",
    "Measurements",
    "Outage",
    "Page",
    "Process",
    "read",
    "read_entry",
]

ClusterState = Literal["IDLE", "CREATING", "UPDATING", "DELETING", "REPAIRING"]
Kind = TypeVar("Kind", bound="Answer")
OutageState = Literal[
    "START_REQUESTED", "STARTING", "SIMULATING", "RECOVERY_REQUESTED", "RECOVERING", "COMPLETE"
]


class Answer(BaseModel):
    """Base of all."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True
    )


class AtlasCluster(Answer):
    """A cluster. `replication_specs` are as Atlas has them: what a change does not name goes back.

    One of them is one shard; a replica set has one.
    """

    name: str
    state_name: ClusterState
    paused: bool = False
    cluster_type: Literal["REPLICASET", "SHARDED", "GEOSHARDED"]
    mongo_db_version: str = Field("", alias="mongoDBVersion")
    replication_specs: list[dict[str, Any]] = Field(min_length=1)


class ChangeStatus(Answer):
    """Whether all that was requested is done."""

    change_status: Literal["APPLIED", "PENDING"]


class OutageFilter(Answer):
    """One region that is cut off."""

    cloud_provider: str
    region_name: str


class Outage(Answer):
    """A simulated outage, and how far it is; Atlas ends it by itself at `expiration_date`."""

    id: str
    state: OutageState
    outage_filters: list[OutageFilter]
    start_request_date: datetime | None = None
    expiration_date: datetime | None = None


class Process(Answer):
    """One mongod or mongos of the project; `type_name` is its role, in Atlas's own word."""

    id: str
    hostname: str
    port: int
    type_name: str
    user_alias: str = ""
    replica_set_name: str = ""
    shard_name: str = ""
    version: str = ""
    last_ping: datetime | None = None


class DataPoint(Answer):
    """One point; `value` is None where nothing was measured."""

    timestamp: datetime
    value: float | None = None


class Measurement(Answer):
    """One measurement over time."""

    name: str
    units: str = ""
    data_points: list[DataPoint] = []


class Measurements(Answer):
    """What was measured of one process, a point a minute: context, too coarse for a failover."""

    process_id: str
    measurements: list[Measurement]


class AtlasEvent(Answer):
    """Something that Atlas noted."""

    id: str
    event_type_name: str
    created: datetime
    cluster_name: str = ""


class MaintenanceWindow(Answer):
    """When maintenance is: Sunday is day 1; `start_asap` where it was told to begin at once."""

    day_of_week: int
    hour_of_day: int = 0
    number_of_deferrals: int = 0
    start_asap: bool = Field(False, alias="startASAP")
    time_zone_id: str = ""


class Page(Answer):
    """A part of a list; each entry is still to be read."""

    results: list[dict[str, Any]]
    total_count: int | None = None


def read(kind: type[Kind], text: bytes, what: str) -> Kind:
    """Return the answer to the call `what`.

    Raises `ClusterError` with every place that is not as Atlas documents it.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        places = [
            f"{'.'.join(map(str, item['loc'])) or 'the answer'}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)
        ]
        raise ClusterError(
            f"Atlas answered {what} with something unknown: {'; '.join(places[:5])}",
            "is `atlas.base_url` right? If so, the API has changed: please report it",
        ) from error


def read_entry(kind: type[Kind], entry: Mapping[str, Any], what: str) -> Kind:
    """Return one entry of a `Page`; raises as `read` does."""
    return read(kind, json.dumps(entry).encode(), what)
