"""What a workload may tell the driver, under `options: {redis: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["RedisOptions", "reading"]


class RedisOptions(StrictSettings):
    """Policies of the Redis driver."""

    client: Annotated[
        Literal["valkey-go", "go-redis"] | None,
        Field(description="the client library; `valkey-go`, under Sentinel `go-redis`"),
    ] = None
    read_from: Annotated[
        Literal["master", "replica"] | None,
        Field(description="who is asked by reads; `master`"),
    ] = None
    connect_timeout_ms: Annotated[
        Annotated[int, Field(ge=1, le=3_600_000)] | None,
        Field(description="for opening a connection; 5000"),
    ] = None
    refresh_ms: Annotated[
        Literal[0] | Annotated[int, Field(ge=100, le=3_600_000)] | None,
        Field(description="between two looks at who owns which slots; 0: the client's own way"),
    ] = None
    pool_size: Annotated[
        Annotated[int, Field(ge=0, le=10_000)] | None,
        Field(description="go-redis: connections to each node; 0: its own 10 for each core"),
    ] = None


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see: no copy waits for another one."""
    return Reading("eventual", options.get("read_from") or "master")
