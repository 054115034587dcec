"""Asking Atlas about a cluster that it runs, and what is known of it before anything is done."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from brownout.atlas.answers import Process
from brownout.atlas.evidence import ago
from brownout.atlas.objections import RECENT, State, of_change
from brownout.atlas.preconditions import PRIMARIES, Facts
from brownout.base.errors import ConfigurationError, Unsupported
from brownout.base.extras import how_to_install
from brownout.databases.adapter import Adapter
from brownout.faults import guards
from brownout.inventory.atlas import BY_ATLAS
from brownout.inventory.model import Cluster

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient

__all__ = ["asking", "check_free", "gather", "own_processes", "state_of"]

_OPLOG = "OPLOG_MASTER_TIME"


@contextmanager
def asking(cluster: Cluster) -> "Iterator[AtlasClient]":
    """Yield the API of the cluster's Atlas; `Unsupported` for a cluster that it does not run."""
    if cluster.atlas is None:
        reason = "its inventory does not say how Atlas is asked (`atlas`)"
        raise Unsupported(f"cluster `{cluster.name}`: {reason}; nothing is touched")
    try:
        from brownout.atlas.client import AtlasClient
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"asking Atlas needs the package `{error.name}`, which is not installed",
            how_to_install("atlas"),
        ) from error
    with AtlasClient(cluster.atlas) as client:
        yield client


def check_free(cluster: Cluster, needs: Iterable[str]) -> None:
    """Raise `Refused` where Atlas could do none of `needs`, before any load: an early look.

    An unknown project or cluster, a wrong login and a missing package are said here too.
    """
    if not BY_ATLAS & set(needs):
        return
    with asking(cluster) as client:
        guards.refuse([guards.possible(of_change(state_of(client)))])


def state_of(client: "AtlasClient", events: bool = False) -> State:
    """Return what Atlas says of the cluster now, with the `events` of the last hour if wanted."""
    return State(
        cluster=client.cluster(),
        pending=client.status().change_status == "PENDING",
        outage=client.outage(),
        events=client.events(ago(RECENT.total_seconds() / 60)) if events else (),
    )


def gather(client: "AtlasClient", cluster: Cluster, adapter: Adapter) -> Facts:
    """Return what the conditions of a failover are about, each asked of who knows it."""
    from brownout.databases.mongodb.room import free_disk  # no other look needs the driver

    processes, state = own_processes(client, cluster), state_of(client)
    return Facts(
        cluster=state.cluster,
        pending=state.pending,
        outage=state.outage,
        processes=processes,
        lags_s={member.node: member.lag_s for member in adapter.members()},
        free_disk=free_disk(cluster),
        oplog_s={p.id: _latest(client, p.id) for p in processes if p.type_name in PRIMARIES},
    )


def own_processes(client: "AtlasClient", cluster: Cluster) -> list[Process]:
    """Return which of the project's processes are this cluster's members."""
    own = {node.address for node in cluster.nodes}
    every = client.processes()
    return [p for p in every if p.id in own or f"{p.user_alias}:{p.port}" in own]


def _latest(client: "AtlasClient", process: str) -> float | None:
    """Return the last figure that Atlas has of the oplog of `process`, in seconds."""
    series = client.measurements(process, [_OPLOG]).measurements
    values = [p.value for one in series for p in one.data_points if p.value is not None]
    return values[-1] if values else None
