"""The driver's settings, in a workload's `options: {cassandra: {…}}` or in the inventory."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.settings import StrictSettings
from brownout.inventory.database import Reading

__all__ = ["CassandraOptions", "reading"]

_Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]
_Reads = Literal["ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM"]


class CassandraOptions(StrictSettings):
    """Policies of the Cassandra driver."""

    consistency: Annotated[
        _Reads | Literal["EACH_QUORUM"] | None,
        Field(description="how many replicas a write waits for; `QUORUM`"),
    ] = None
    read_consistency: Annotated[
        _Reads | None,
        Field(
            description="how many replicas a read asks; as `consistency`, or `LOCAL_QUORUM` for"
            " `EACH_QUORUM`"
        ),
    ] = None
    replication_factor: Annotated[
        Annotated[int, Field(ge=1, le=99)] | None,
        Field(
            description="number of copies in each data centre, of a keyspace that brownout makes; 3"
        ),
    ] = None
    local_dc: Annotated[
        str | None,
        Field(description="ask only nodes of this data centre; all"),
    ] = None
    timestamps: Annotated[
        Literal["client", "server"] | None,
        Field(description="whose clock gives writes their times; the latest wins; client"),
    ] = None
    connect_timeout_ms: Annotated[
        _Milliseconds | None,
        Field(description="for opening a connection; 11000"),
    ] = None
    reconnect_ms: Annotated[
        _Milliseconds | None,
        Field(description="between two attempts to reach nodes that are down; 1000"),
    ] = None
    connections_per_node: Annotated[
        Annotated[int, Field(ge=1, le=100)] | None,
        Field(description="each takes thousands of requests at a time; 2"),
    ] = None


def reading(options: Mapping[str, Any]) -> Reading:
    """Return what reads with these options see: with quorums that overlap, every write.

    A write that waited for a quorum of each data centre is seen by a quorum of any one.
    """
    write = options.get("consistency") or "QUORUM"
    read = options.get("read_consistency") or ("LOCAL_QUORUM" if write == "EACH_QUORUM" else write)
    quorums = write in ("QUORUM", "EACH_QUORUM", "ALL") and read in ("QUORUM", "ALL")
    overlap = quorums or "ALL" in (write, read) or (write, read) == ("EACH_QUORUM", "LOCAL_QUORUM")
    return Reading("linearizable" if overlap else "eventual", read)
