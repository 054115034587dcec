"""Which containers an engine runs, in its own words: for an inventory of them."""

from collections.abc import Mapping
from typing import Any

from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import EngineSettings

__all__ = ["running"]


def running(settings: EngineSettings, labels: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return what the engine says of each container that runs and has these labels.

    Raises `HostError` where the engine does not answer. One that ends meanwhile is left out.
    """
    wanted = [f"{name}={value}" for name, value in labels.items()]
    with connected(settings) as client:
        listed = client.containers(filters={"label": wanted} if wanted else None)
        documents = [client.inspect_container(one["Id"]) for one in listed]
    return [one for one in documents if (one.get("State") or {}).get("Running")]
