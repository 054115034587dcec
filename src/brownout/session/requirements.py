"""What this machine needs for a run on a cluster: packages, a server's program, the generator.

Each is looked at; nothing is touched and no cluster is asked.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module

from brownout.base.binary import find_loadgen
from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.base.extras import how_to_install
from brownout.databases.lab.engine import kind_of
from brownout.faults.guards import Guard
from brownout.inventory import labs
from brownout.inventory.database import database
from brownout.inventory.model import Cluster

__all__ = ["requirements"]

Look = Callable[[], object]


def requirements(cluster: Cluster, needs: Iterable[str] = ()) -> list[Guard]:
    """Return what a run that does `needs` to `cluster` wants here, and whether it is there.

    A server's program is wanted where a lab is down only: of one that is up it runs.
    """
    wanted = [*_packages(cluster, needs), ("load generator", find_loadgen), *_programs(cluster)]
    return [_guard(name, look) for name, look in wanted]


def _packages(cluster: Cluster, needs: Iterable[str]) -> Iterator[tuple[str, Look]]:
    def adapter() -> object:
        of = database(cluster.database)
        return of.referred(of.adapter)

    yield f"packages of {cluster.database}", adapter
    wanted = kind_of(cluster).packages(cluster.lab) if cluster.lab is not None else {}
    if cluster.atlas is not None:
        wanted = {"atlas": ("brownout.atlas.client", "atlas"), **wanted}
    if "litmus" in needs:
        wanted = {**wanted, "litmus": ("kubernetes", "kubernetes")}
    for of, (module, extra) in wanted.items():
        yield f"packages of {of}", partial(_imported, module, extra)


def _programs(cluster: Cluster) -> Iterator[tuple[str, Look]]:
    if cluster.lab is not None and labs.running_inventory(cluster.name) is None:
        if find := database(cluster.database).lab_server:
            yield "server", find
        yield from kind_of(cluster).programs.items()


def _imported(module: str, extra: str) -> object:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{error.name}` is not installed", how_to_install(extra)
        ) from error


def _guard(name: str, look: Look) -> Guard:
    try:
        problem = look()
    except BrownoutError as error:
        return Guard(name, False, error.message, error.hint)
    return Guard(name, True, "installed" if name.startswith("packages") else str(problem))
