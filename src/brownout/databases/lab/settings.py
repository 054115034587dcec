"""Settings that the labs of several databases have."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from brownout.inventory.model import LabSpec

__all__ = ["ClockLab", "DiskLab", "NetworkedLab", "SlowableLab"]


class ClockLab(LabSpec):
    """A lab whose servers ask the C library for the time, so that each can have its own clock."""

    own_clocks: Annotated[
        bool, Field(description="each server's clock can be set, by libfaketime")
    ] = False


class DiskLab(LabSpec):
    """A lab whose engine can give each node's data a file system of its own."""

    own_file_systems: Annotated[
        bool, Field(description="each node's data on one of its own, for faults of disks; root")
    ] = False
    file_system_mb: Annotated[
        int, Field(ge=64, le=65_536, description="size of such a file system, a sparse file")
    ] = 1024


class NetworkedLab(DiskLab):
    """A lab whose engine can give each node a network of its own."""

    network_namespaces: Annotated[
        bool, Field(description="each member in one of its own, so that it can be cut off; root")
    ] = False


class SlowableLab(NetworkedLab):
    """A lab whose engine can also put a proxy in front of each node."""

    slow_links: Annotated[
        bool,
        Field(description="each member can be slowed, by netem where there is, else by toxiproxy"),
    ] = False

    @model_validator(mode="after")
    def _has_one_network(self) -> Self:
        if self.slow_links and self.network_namespaces:
            raise ValueError("found slow_links and network_namespaces, wanted one of them")
        return self
