"""What the inventory of a lab of Redis Cluster may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import ClockLab, NetworkedLab

__all__ = ["RedisLab"]


class RedisLab(NetworkedLab, ClockLab):
    """Shards of one cluster, each of a master and its replicas."""

    engine: Literal["redis"]
    members: Annotated[int, Field(ge=2, le=4)] = 2
    shards: Annotated[
        int, Field(ge=3, le=6, description="of a lab of Redis; each has so many members")
    ] = 3
    node_timeout_ms: Annotated[
        int, Field(ge=500, le=60_000, description="without an answer until a node counts as down")
    ] = 1500
    append_only: Annotated[
        bool,
        Field(description="keep every write on disk; else a node that stopped comes back empty"),
    ] = True
    secure: Annotated[bool, Field(description="TLS only, and a login by user and password")] = False

    @property
    def shard_names(self) -> tuple[str, ...]:
        """`s1`, `s2`, …"""
        return tuple(f"s{number}" for number in range(1, self.shards + 1))

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout resizes no Redis Cluster yet")
        if self.racks:
            raise ValueError("racks: wanted 0: a lab of Redis has shards")
        return self
