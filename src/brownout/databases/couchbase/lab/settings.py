"""What the inventory of a lab of Couchbase may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from brownout.inventory.model import LabSpec

__all__ = ["CouchbaseLab"]


class CouchbaseLab(LabSpec):
    """One process of CouchbaseMock, which plays all nodes of one cluster."""

    engine: Literal["couchbase"]
    members: Annotated[int, Field(ge=1, le=7)] = 1
    nodes: Annotated[int, Field(ge=1, le=7, description="that the mock plays")] = 3
    replicas: Annotated[
        int, Field(ge=0, le=3, description="of a vbucket, to which the mock copies what is written")
    ] = 1
    heap_mb: Annotated[
        int, Field(ge=64, le=65_536, description="of the mock's JVM, which keeps all data there")
    ] = 256

    @model_validator(mode="after")
    def _can_be_played(self) -> Self:
        if self.members != 1:
            raise ValueError("members: wanted 1: one process plays all `nodes`")
        if self.spares:
            raise ValueError("spares: wanted 0: a mock is not resized")
        if self.racks:
            raise ValueError("racks: wanted 0: one process plays all nodes")
        if self.replicas >= self.nodes:
            raise ValueError("replicas: wanted less than `nodes`")
        return self
