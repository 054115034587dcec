"""What makes the members of one kind of lab; each database has its own, found by registry."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

from brownout.base.errors import ConfigurationError
from brownout.inventory.database import Database, LabKind, database
from brownout.inventory.model import Cluster

__all__ = ["Engine", "Progress", "engine_of", "kind_of"]

#: Gets one short line of what happens now.
Progress = Callable[[str], None]


class Engine(Protocol):
    """What differs from one database to the other. `spec` has the settings of its own model."""

    def lay_out(self, cluster: Cluster, spec: Any, directory: Path) -> Cluster:
        """Write the nodes' directories; return `cluster` with nodes and spares. Starts nothing."""
        ...

    def form(self, cluster: Cluster, spec: Any, progress: Progress) -> None:
        """Make one whole cluster of the running members, or raise `ClusterError`."""
        ...

    def await_whole(self, cluster: Cluster, progress: Progress) -> None:
        """Wait until a cluster that was formed before is whole, or raise `ClusterError`."""
        ...


def kind_of(cluster: Cluster) -> LabKind:
    """Return the kind of the lab that `cluster` is; `ConfigurationError` if it is not a lab."""
    return _lab_of(cluster)[1]


def engine_of(cluster: Cluster) -> Engine:
    """Return what makes its members; `ConfigurationError` if a package for that is missing."""
    of, kind = _lab_of(cluster)
    return cast(Engine, of.referred(kind.engine))


def _lab_of(cluster: Cluster) -> tuple[Database, LabKind]:
    if cluster.lab is None:
        raise ConfigurationError(f"cluster `{cluster.name}` is not a lab")
    of = database(cluster.database)
    return of, of.lab(cluster.lab.engine)
