"""What the inventories of PostgreSQL labs may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import NetworkedLab

__all__ = ["PostgresqlLab", "StreamingLab"]


class PostgresqlLab(NetworkedLab):
    """Members of one cluster under Patroni."""

    engine: Literal["postgresql"]
    ttl_s: Annotated[
        int,
        Field(
            ge=10, le=300, description="of a leader's lease: so long a dead one is kept; 4.x: 20"
        ),
    ] = 20
    loop_wait_s: Annotated[int, Field(ge=1, le=60, description="between two looks of Patroni")] = 2
    retry_timeout_s: Annotated[
        int, Field(ge=3, le=60, description="for the store and for PostgreSQL to answer")
    ] = 8
    synchronous: Annotated[
        bool, Field(description="a commit waits for a replica (`synchronous_mode`)")
    ] = False
    secure: Annotated[bool, Field(description="TLS only, and a login by password (SCRAM)")] = False

    patroni: Annotated[
        str,
        Field(
            pattern=r"^(\d+\.\d+\.\d+)?$",
            description="a release that pip fetches for labs, as 3.0.2; else the one that is here",
        ),
    ] = ""

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout resizes no cluster of PostgreSQL yet")
        if self.ttl_s < self.loop_wait_s + 2 * self.retry_timeout_s:
            raise ValueError("ttl_s: wanted at least loop_wait_s and twice retry_timeout_s")
        return self


class StreamingLab(NetworkedLab):
    """A primary and its standbys, and nothing that supervises them."""

    engine: Literal["postgresql-streaming"]

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout resizes no cluster of PostgreSQL yet")
        return self
