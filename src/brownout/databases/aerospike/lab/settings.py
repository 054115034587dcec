"""What the inventory of an Aerospike lab may say."""

from typing import Annotated, Literal

from pydantic import Field

from brownout.databases.lab.settings import NetworkedLab

__all__ = ["AerospikeLab"]


class AerospikeLab(NetworkedLab):
    """Nodes of asd, or of the stand-in where there is none."""

    engine: Literal["aerospike"]
    heartbeat_ms: Annotated[int, Field(ge=100, le=10_000)] = 500
    heartbeat_timeout: Annotated[
        int, Field(ge=3, le=60, description="heartbeats missed until a node is gone")
    ] = 10
    device_mb: Annotated[int, Field(ge=32, le=65_536, description="its file, a member")] = 1024
    edition: Annotated[
        Literal["enterprise", "community"], Field(description="whose commands the stand-in has")
    ] = "enterprise"
