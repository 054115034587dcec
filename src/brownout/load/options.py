"""What a workload may tell a database's driver, under `options: {<driver>: {…}}`.

A setting that is left out falls to the inventory's, then to the driver package's own default;
that default is named here for the reader and lives in the generator. The settings in effect are
recorded in `generator.json`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from brownout.load.workload_base import Settings

__all__ = ["AerospikeOptions", "DriverOptions", "MongoOptions"]

_Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]


def _one_message(value: Any, accept: ValidatorFunctionWrapHandler) -> Any:
    """Say in one sentence what a union would say once a branch."""
    try:
        return accept(value)
    except ValidationError as error:
        raise PydanticCustomError(
            "write_concern", "wanted majority or a number of members from 1 to 50"
        ) from error


_WriteConcern = Annotated[
    Literal["majority"] | Annotated[int, Field(ge=1, le=50)], WrapValidator(_one_message)
]


class MongoOptions(Settings):
    """Policies of the MongoDB driver."""

    write_concern: Annotated[
        _WriteConcern | None,
        Field(description="members that must have a write before it counts; `majority`"),
    ] = None
    journal: Annotated[
        bool | None,
        Field(description="a write waits for the journal; the server's own default"),
    ] = None
    read_concern: Annotated[
        Literal["local", "available", "majority", "linearizable"] | None,
        Field(description="which data a read may return; `local`"),
    ] = None
    read_preference: Annotated[
        Literal["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"] | None,
        Field(description="which members are read from; `primary`"),
    ] = None
    pool_size: Annotated[
        Annotated[int, Field(ge=1, le=10_000)] | None,
        Field(description="connections per server at most, and so the lane cap; 100"),
    ] = None
    min_pool_size: Annotated[
        Annotated[int, Field(ge=0, le=10_000)] | None,
        Field(description="connections kept open per server; 0"),
    ] = None
    max_connecting: Annotated[
        Annotated[int, Field(ge=1, le=100)] | None,
        Field(description="connections being opened at a time per server; 2"),
    ] = None
    connect_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for opening a connection; 5000"),
    ] = None
    server_selection_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for finding a server, if the deadline is not nearer; 30000"),
    ] = None
    heartbeat_ms: Annotated[
        Annotated[int, Field(ge=500, le=3_600_000)] | None,
        Field(description="between two checks of a server; 10000"),
    ] = None


class AerospikeOptions(Settings):
    """Policies of the Aerospike driver."""

    namespace: Annotated[
        Annotated[str, Field(pattern=r"^[^\s:;/]{1,31}$")] | None,
        Field(description="of the server; the first one that it has"),
    ] = None
    commit_level: Annotated[
        Literal["all", "master"] | None,
        Field(description="copies that must have a write before it counts; `all`"),
    ] = None
    read_mode_ap: Annotated[
        Literal["one", "all"] | None,
        Field(description="whether a read asks every copy that may be newer; `one`"),
    ] = None
    replica: Annotated[
        Literal["sequence", "master"] | None,
        Field(description="who is asked if the partition's owner is gone; `sequence`"),
    ] = None
    pool_size: Annotated[
        Annotated[int, Field(ge=1, le=10_000)] | None,
        Field(description="connections per node at most, and so the lane cap; 100"),
    ] = None
    min_pool_size: Annotated[
        Annotated[int, Field(ge=0, le=10_000)] | None,
        Field(description="connections kept open per node; 0"),
    ] = None
    connect_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for opening a connection and for news of a node; 1000"),
    ] = None
    socket_timeout_ms: Annotated[
        Annotated[int, Field(ge=0, le=3_600_000)] | None,
        Field(description="for one attempt; 0: what is left of the deadline"),
    ] = None
    sleep_between_retries_ms: Annotated[
        _Milliseconds | None,
        Field(description="before a further attempt or look for a connection, then ever longer; 1"),
    ] = None
    tend_interval_ms: Annotated[
        Annotated[int, Field(ge=10, le=3_600_000)] | None,
        Field(description="between two looks at the partition map; 1000"),
    ] = None
    max_error_rate: Annotated[
        Annotated[int, Field(ge=0, le=1_000_000)] | None,
        Field(description="errors per window until a node's circuit opens; 0: never; 100"),
    ] = None
    error_rate_window: Annotated[
        Annotated[int, Field(ge=1, le=1_000)] | None,
        Field(description="length of that window in tend intervals; 1"),
    ] = None
    auth_mode: Annotated[
        Literal["internal", "external", "pki"] | None,
        Field(description="how a user proves who he is; `internal`"),
    ] = None
    services_alternate: Annotated[
        bool | None,
        Field(description="use the nodes' alternate addresses; no"),
    ] = None


class DriverOptions(Settings):
    """One entry a driver; only the one of the cluster's database is used."""

    aerospike: AerospikeOptions = AerospikeOptions()
    mongodb: MongoOptions = MongoOptions()
