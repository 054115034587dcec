"""What this machine needs for a run on a cluster: packages, a server's program, the generator.

Each is looked at; nothing is touched and no cluster is asked.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from brownout.base import plugins
from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.faults.guards import Guard
from brownout.infra.lab import aerospike_server, mongod, router_stand_in
from brownout.inventory import labs
from brownout.inventory.model import Cluster
from brownout.load.binary import find_loadgen

__all__ = ["requirements"]

Look = Callable[[], object]


def requirements(cluster: Cluster, needs: Iterable[str] = ()) -> list[Guard]:
    """Return what a run that does `needs` to `cluster` wants here, and whether it is there.

    A server's program is wanted where a lab is down only: of one that is up it runs.
    """
    wanted = [*_packages(cluster, needs), ("load generator", find_loadgen), *_servers(cluster)]
    return [_guard(name, look) for name, look in wanted]


def _packages(cluster: Cluster, needs: Iterable[str]) -> Iterator[tuple[str, Look]]:
    yield (
        f"packages of {cluster.database}",
        lambda: plugins.load(plugins.ADAPTERS, cluster.database, "database"),
    )
    if cluster.atlas is not None or (cluster.lab is not None and cluster.lab.engine == "atlas"):
        yield "packages of atlas", lambda: _imported("brownout.atlas.client", "atlas")
    if cluster.lab is not None and cluster.lab.secure:
        yield "packages of a secure lab", lambda: _imported("cryptography", "lab")
    if "litmus" in needs:
        yield "packages of litmus", lambda: _imported("kubernetes", "kubernetes")


def _servers(cluster: Cluster) -> Iterator[tuple[str, Look]]:
    if cluster.lab is None or labs.running_inventory(cluster.name) is not None:
        return
    if cluster.lab.engine == "aerospike":
        yield "server", lambda: aerospike_server.find_server().program
    else:
        yield "server", mongod.find_mongod
    if cluster.lab.engine == "sharded":
        yield "router", router_stand_in.find_router


def _imported(module: str, extra: str) -> object:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{error.name}` is not installed", f"pip install 'brownout[{extra}]'"
        ) from error


def _guard(name: str, look: Look) -> Guard:
    try:
        found = look()
    except BrownoutError as error:
        return Guard(name, False, error.message, error.hint)
    return Guard(name, True, "installed" if name.startswith("packages") else str(found))
