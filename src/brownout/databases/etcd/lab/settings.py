"""What the inventory of an etcd lab may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.databases.lab.settings import NetworkedLab

__all__ = ["EtcdLab"]


class EtcdLab(NetworkedLab):
    """Members of one cluster."""

    engine: Literal["etcd"]
    heartbeat_ms: Annotated[int, Field(ge=10, le=10_000)] = 100
    election_timeout_ms: Annotated[
        int, Field(ge=100, le=50_000, description="without a heartbeat until an election")
    ] = 1000
    secure: Annotated[bool, Field(description="TLS only, and a certificate of clients")] = False

    @model_validator(mode="after")
    def _can_be_formed(self) -> Self:
        if self.spares:
            raise ValueError("spares: wanted 0: brownout resizes no cluster of etcd yet")
        if self.election_timeout_ms < 5 * self.heartbeat_ms:
            raise ValueError("election_timeout_ms: wanted at least five times heartbeat_ms")
        return self
