"""The settings of a lab of Cassandra."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import ClockLab, NetworkedLab

__all__ = ["CassandraLab"]


class CassandraLab(ClockLab, NetworkedLab):
    """Nodes of one cluster, in one data centre."""

    engine: Literal["cassandra"]
    heap_mb: Annotated[
        int, Field(ge=192, le=65_536, description="of a node's JVM, which takes twice that")
    ] = 384
    ring_delay_ms: Annotated[
        int,
        Field(ge=1000, le=300_000, description="that a node without data waits before it copies"),
    ] = 8000
    secure: Annotated[bool, Field(description="TLS only, and a login by user and password")] = False

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout resizes no cluster of Cassandra yet")
        return self
