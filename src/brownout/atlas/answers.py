"""What the API answers: strict in what we use, and open for more.

The names are Atlas's in snake case; those that it may leave out have a default. Times are UTC.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from brownout.base.errors import ClusterError
from brownout.base.problems import from_validation

__all__ = [
    "Answer",
    "AtlasCluster",
    "AtlasEvent",
    "ChangeStatus",
    "MaintenanceWindow",
    "Measurement",
    "Measurements",
    "Outage",
    "OutageFilter",
    "Page",
    "Process",
    "Shard",
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


class Nodes(Answer):
    """What a region has of one kind of node."""

    instance_size: str = ""
    node_count: Annotated[int, Field(ge=0, le=1000)] = 0
    disk_size_gb: Annotated[
        float | None, Field(alias="diskSizeGB", gt=0, lt=1e6, allow_inf_nan=False)
    ] = None


class Scaling(Answer):
    """Whether Atlas changes a size by itself."""

    enabled: bool | None = None


class AutoScaling(Answer):
    """What Atlas scales by itself in one region: the tier, the storage."""

    compute: Scaling | None = None
    disk_gb: Annotated[Scaling | None, Field(alias="diskGB")] = None


class Region(Answer):
    """What a shard has in one region; `effective…` where that is not what was asked for."""

    region_name: str = ""
    provider_name: str = ""
    priority: int = 0
    auto_scaling: AutoScaling | None = None
    effective_electable_specs: Nodes | None = None
    effective_read_only_specs: Nodes | None = None
    electable_specs: Nodes | None = None
    read_only_specs: Nodes | None = None
    analytics_specs: Nodes | None = None


class Shard(Answer):
    """One shard, or the whole replica set."""

    region_configs: list[Region]


def _as_documented(specs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `specs` as they came; what we do with them needs a `Shard` of each."""
    for spec in specs:
        try:
            Shard.model_validate_json(json.dumps(spec))
        except ValidationError as error:
            raise ValueError("; ".join(from_validation(error, Shard, values=False))) from error
    return specs


class AtlasCluster(Answer):
    """A cluster. `replication_specs` are as Atlas has them: what a change does not name goes back.

    One of them is one shard; a replica set has one.
    """

    name: str
    state_name: ClusterState
    paused: bool = False
    cluster_type: Literal["REPLICASET", "SHARDED", "GEOSHARDED"]
    mongo_db_version: str = Field("", alias="mongoDBVersion")
    replication_specs: Annotated[
        list[dict[str, Any]], Field(min_length=1), AfterValidator(_as_documented)
    ]


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
    """When maintenance is: Sunday is day 1, and 0 where Atlas names none.

    `start_asap` where it was told to begin at once.
    """

    day_of_week: int = 0
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
        problems = from_validation(error, kind, values=False)
        raise ClusterError(
            f"Atlas answered {what} with something unknown: {'; '.join(problems[:5])}",
            "is `atlas.base_url` right? If so, the API has changed: please report it",
        ) from error


def read_entry(kind: type[Kind], entry: Mapping[str, Any], what: str) -> Kind:
    """Return one entry of a `Page`; raises as `read` does."""
    return read(kind, json.dumps(entry).encode(), what)
