"""What a workload may tell the driver, under `options: {aerospike: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["AerospikeOptions", "reading"]

_Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]


class AerospikeOptions(StrictSettings):
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


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see: in a namespace that favours availability, any."""
    mode, replica = options.get("read_mode_ap") or "one", options.get("replica") or "sequence"
    return Reading("eventual", f"read mode {mode}, replica {replica}")
