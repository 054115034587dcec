"""What a workload may tell the driver, under `options: {mongodb: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["MongoOptions", "reading"]

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


class MongoOptions(StrictSettings):
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


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see.

    With read concern `local` a read may return what is rolled back later. With `majority` it may
    still miss what another primary has acknowledged, as long as the one that was asked is cut off
    and does not know it.
    """
    concern = options.get("read_concern") or "local"
    preference = options.get("read_preference") or "primary"
    by_majority = str(options.get("write_concern") or "majority") == "majority"
    asked = f"{preference}, read concern {concern}"
    if preference != "primary" or not by_majority or concern not in ("majority", "linearizable"):
        return Reading("eventual", asked)
    return Reading("linearizable" if concern == "linearizable" else "session", asked)
