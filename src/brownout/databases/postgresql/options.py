"""What a workload may tell the driver, under `options: {postgresql: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["PostgresqlOptions", "reading"]

_Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]


class PostgresqlOptions(StrictSettings):
    """Policies of the PostgreSQL driver."""

    database: Annotated[
        str | None,
        Field(min_length=1, description="in which the schema `namespace` is made; `postgres`"),
    ] = None
    synchronous_commit: Annotated[
        Literal["off", "local", "remote_write", "on", "remote_apply"] | None,
        Field(description="what a commit waits for; as the server has it"),
    ] = None
    read_from: Annotated[
        Literal["primary", "standby"] | None,
        Field(description="who is asked by reads: the primary, or the first standby; `primary`"),
    ] = None
    pool_size: Annotated[
        int | None, Field(ge=1, le=10_000, description="connections, one for each operation; 10")
    ] = None
    connect_timeout_ms: Annotated[
        _Milliseconds | None, Field(description="for opening a connection to one server; 2000")
    ] = None
    keepalive_ms: Annotated[
        _Milliseconds | None, Field(description="between TCP keepalives; 15000")
    ] = None
    answer_grace_ms: Annotated[
        int | None,
        Field(
            ge=0,
            le=3_600_000,
            description="wait for an answer after the deadline, before closing; 250",
        ),
    ] = None


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see.

    A standby may be behind. A primary has what it acknowledged, but whether the next one has it is
    decided by the servers' settings.
    """
    return Reading("eventual", options.get("read_from") or "primary")
