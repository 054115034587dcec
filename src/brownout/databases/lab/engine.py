"""What makes the members of a lab: one module an engine, loaded only when it is needed."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Cluster, LabSpec

__all__ = ["Engine", "Progress", "engine_of"]

#: Gets one short line of what happens now.
Progress = Callable[[str], None]


class Engine(Protocol):
    """What differs from one database to the other."""

    def lay_out(self, cluster: Cluster, spec: LabSpec, directory: Path) -> Cluster:
        """Write the nodes' directories; return `cluster` with nodes and spares. Starts nothing."""
        ...

    def form(self, cluster: Cluster, spec: LabSpec, progress: Progress) -> None:
        """Make one whole cluster of the running members, or raise `ClusterError`."""
        ...

    def await_whole(self, cluster: Cluster, progress: Progress) -> None:
        """Wait until a cluster that was formed before is whole, or raise `ClusterError`."""
        ...


def engine_of(spec: LabSpec) -> Engine:
    """Return the engine that `spec` names; `ConfigurationError` if its driver is missing."""
    try:
        return cast(Engine, import_module(f"brownout.infra.lab.{spec.engine}"))
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"a {spec.engine} lab needs the package `{error.name}`, which is not installed",
            "pip install 'brownout[lab]'",
        ) from error
