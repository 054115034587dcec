"""What the inventory of a MongoDB lab may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import ClockLab, SlowableLab
from brownout.inventory.model import LabSpec

__all__ = ["AtlasLab", "MongodLab", "ReplicaSetLab", "ShardedLab"]


class MongodLab(LabSpec):
    """Members that are mongod."""

    election_timeout_ms: Annotated[
        int, Field(ge=500, le=60_000, description="without a heartbeat until an election")
    ] = 2000
    heartbeat_ms: Annotated[int, Field(ge=100, le=10_000)] = 500
    cache_mb: Annotated[int, Field(ge=256, le=65_536, description="WiredTiger's, a member")] = 256
    oplog_mb: Annotated[int, Field(ge=16, le=65_536)] = 128

    def of_one_set(self) -> "ReplicaSetLab":
        """Return the settings of one replica set of these members."""
        shared = MongodLab.model_fields.keys() - {"engine", "stand_in"}
        return ReplicaSetLab(engine="mongodb", **{name: getattr(self, name) for name in shared})


class ReplicaSetLab(MongodLab, SlowableLab, ClockLab):
    """One replica set."""

    engine: Literal["mongodb"]
    secure: Annotated[bool, Field(description="TLS only, and a login by certificate")] = False

    @model_validator(mode="after")
    def _is_secure_or_networked(self) -> Self:
        for name in ("network_namespaces", "slow_links"):
            if self.secure and getattr(self, name):
                raise ValueError(f"{name}: wanted not secure")
        return self


class ShardedLab(MongodLab):
    """Several replica sets behind a router."""

    engine: Literal["sharded"]
    shards: Annotated[
        int, Field(ge=2, le=4, description="of a `sharded` lab; each has so many members")
    ] = 2

    @property
    def shard_names(self) -> tuple[str, ...]:
        """`s1`, `s2`, …"""
        return tuple(f"s{number}" for number in range(1, self.shards + 1))


class AtlasLab(MongodLab):
    """One replica set with a local Atlas API in front of it."""

    engine: Literal["atlas"]
    begins_after_s: Annotated[
        float, Field(ge=0, le=600, description="until the local Atlas API begins what it was asked")
    ] = 2.0
