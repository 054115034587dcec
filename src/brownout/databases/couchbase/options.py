"""What a workload may tell the driver, under `options: {couchbase: {…}}`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["CouchbaseOptions", "reading"]

_Levels = Literal["none", "majority", "majority_and_persist_on_active", "persist_to_majority"]


class CouchbaseOptions(StrictSettings):
    """Policies of the Couchbase driver."""

    bucket: Annotated[
        Annotated[str, Field(min_length=1, max_length=100)] | None,
        Field(description="where the load lies; brownout does not make it; `brownout`"),
    ] = None
    durability: Annotated[
        _Levels | None,
        Field(description="how many copies a write waits for; `majority`; a mock knows only none"),
    ] = None
    connections_per_node: Annotated[
        Annotated[int, Field(ge=1, le=100)] | None,
        Field(description="each takes thousands of requests at a time; 1"),
    ] = None
    connect_timeout_ms: Annotated[
        Annotated[int, Field(ge=1, le=3_600_000)] | None,
        Field(description="for opening a connection; 10000"),
    ] = None
    config_poll_ms: Annotated[
        Annotated[int, Field(ge=50, le=3_600_000)] | None,
        Field(description="between two looks at which node has which vbucket; 2500"),
    ] = None
    circuit_breaker: Annotated[
        bool | None,
        Field(description="gocb's own: it sends nothing to a node of which too much fails; true"),
    ] = None


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see: the active copy has what it has acknowledged."""
    durable = (options.get("durability") or "majority") != "none"
    return Reading("session" if durable else "eventual", "the active copy")
