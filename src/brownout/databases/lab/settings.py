"""Settings that the labs of several databases have."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from brownout.inventory.model import LabSpec

__all__ = ["NetworkedLab", "SlowableLab"]


class NetworkedLab(LabSpec):
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
