"""What the inventory of a lab of Redis may say."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import ClockLab, NetworkedLab

__all__ = ["RedisLab", "SentinelLab"]


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


class SentinelLab(NetworkedLab, ClockLab):
    """A master and its replicas, and sentinels that promote one of them."""

    LIMITS_NAME: ClassVar[str] = "redis-sentinel"

    engine: Literal["redis-sentinel"]
    members: Annotated[int, Field(ge=2, le=7)] = 3
    sentinels: Annotated[int, Field(ge=1, le=7, description="of a lab of Redis under Sentinel")] = 3
    quorum: Annotated[
        int, Field(ge=1, le=7, description="sentinels that must see the master as down")
    ] = 2
    down_after_ms: Annotated[
        int,
        Field(ge=500, le=60_000, description="without an answer until a sentinel sees a node down"),
    ] = 1500
    failover_timeout_ms: Annotated[
        int, Field(ge=1000, le=600_000, description="for one step of a failover")
    ] = 10_000
    min_replicas_to_write: Annotated[
        int, Field(ge=0, le=6, description="a master with fewer replicas takes no writes; 0: any")
    ] = 0
    append_only: Annotated[
        bool,
        Field(description="keep every write on disk; else a node that stopped comes back empty"),
    ] = True

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout adds no node to a Redis under Sentinel")
        if self.quorum > self.sentinels:
            raise ValueError(
                f"quorum: found {self.quorum}, wanted at most the {self.sentinels} sentinels"
            )
        if self.min_replicas_to_write >= self.members:
            raise ValueError(
                f"min_replicas_to_write: found {self.min_replicas_to_write}, wanted fewer than the "
                f"{self.members} members"
            )
        return self
