"""What a workload may tell the driver, under `options: {postgresql: {…}}`."""

from typing import Annotated, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings

__all__ = ["PostgresqlOptions"]

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
