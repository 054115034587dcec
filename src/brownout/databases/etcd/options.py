"""What a workload may tell the driver, under `options: {etcd: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["EtcdOptions", "reading"]

_Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]


class EtcdOptions(StrictSettings):
    """Policies of the etcd driver."""

    read: Annotated[
        Literal["linearizable", "serializable"] | None,
        Field(description="whether a read asks the leader, or its member alone; `linearizable`"),
    ] = None
    require_leader: Annotated[
        bool | None,
        Field(description="a member that knows no leader refuses at once; no"),
    ] = None
    connect_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for opening a connection; 20000"),
    ] = None
    reconnect_max_ms: Annotated[
        _Milliseconds | None,
        Field(description="longest pause before it connects again; 120000"),
    ] = None
    keepalive_time_ms: Annotated[
        Literal[0] | Annotated[int, Field(ge=10_000, le=3_600_000)] | None,
        Field(description="without an answer until a member is asked for a sign of life; 10000"),
    ] = None
    keepalive_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for that sign, or the connection is given up; 6000"),
    ] = None


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see: a member that reads alone may be behind."""
    if options.get("read") == "serializable":
        return Reading("eventual", "one member alone (serializable)")
    return Reading("linearizable", "the leader (linearizable)")
