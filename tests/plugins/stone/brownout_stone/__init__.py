"""Stone: a database whose node is the load generator's scripted server, which has no disk.

The driver of it, `scripted`, is in the load generator already. Everything else is in this folder:
`adapter` asks the nodes, `lab` makes one of processes here.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from brownout.base.errors import ConfigurationError
from brownout.base.settings import StrictSettings
from brownout.inventory.database import Database, LabKind, Server
from brownout.inventory.model import Cluster, LabSpec

__all__ = ["STONE", "StoneLab", "StoneOptions"]


class StoneLab(LabSpec):
    """One node; `lab.engine: stone`."""

    engine: Literal["stone"]
    members: Annotated[int, Field(ge=1, le=1)] = 1
    latency_ms: Annotated[float, Field(gt=0, le=100, description="of every answer")] = 1.0


class StoneOptions(StrictSettings):
    """What a workload may tell the driver under `options: {scripted: {…}}`."""

    connections: Annotated[int | None, Field(ge=1, description="to each node; 2")] = None
    pool: Annotated[int | None, Field(ge=1, description="operations under way to a node; 64")] = (
        None
    )


def _check_target(select: str, cluster: Cluster) -> None:
    names = [node.name for node in cluster.nodes]
    if select not in (*names, "primary", "random"):
        raise ConfigurationError(
            f"target: found {select!r}, wanted primary, random or one of {', '.join(names)}"
        )


def _find_server() -> Path:
    from brownout.base.binary import find_loadgen

    return find_loadgen()


STONE = Database(
    name="stone",
    title="Stone",
    driver="scripted",
    adapter="brownout_stone.adapter:StoneAdapter",
    options=StoneOptions,
    check_target=_check_target,
    labs={"stone": LabKind(settings=StoneLab, engine="brownout_stone.lab")},
    lab_server=_find_server,
    server=Server(program="stoned", service="stone", port=7000, config_file="/etc/stone.json"),
)
