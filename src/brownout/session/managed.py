"""What Atlas is asked to do to a cluster in a run: requested by its API, effective by the driver.

    conditions ──▶ guards ──▶ intent ──▶ request ──▶ primary lost: effective ──▶ applied: finished

Nothing stays broken by a failover test, so nothing is owed after it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from brownout.cluster.adapter import Adapter
from brownout.cluster.host import Proof
from brownout.cluster.lacking import lacks
from brownout.cluster.model import Cluster
from brownout.errors import ClusterError, ConfigurationError, Unsupported
from brownout.session import guards
from brownout.session.acts import Act, Evidence

if TYPE_CHECKING:
    from brownout.cluster.atlas.client import AtlasClient
    from brownout.cluster.atlas.preconditions import Facts
    from brownout.cluster.mongodb.discovery import PrimaryWatch
    from brownout.session.session import Session

__all__ = ["asking", "failover", "gather"]

_POLL_S = 0.5
_FIND_S = 30.0
_OPLOG = "OPLOG_MASTER_TIME"
Stopped = Callable[[], bool]


@contextmanager
def asking(cluster: Cluster) -> "Iterator[AtlasClient]":
    """Yield the API of the cluster's Atlas; `Unsupported` for a cluster that it does not run."""
    if cluster.atlas is None:
        reason = "its inventory does not say how Atlas is asked (`atlas`)"
        raise Unsupported(f"cluster `{cluster.name}`: {reason}; nothing is touched")
    try:
        from brownout.cluster.atlas.client import AtlasClient
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"asking Atlas needs the package `{error.name}`, which is not installed",
            "pip install 'brownout[atlas]'",
        ) from error
    with AtlasClient(cluster.atlas) as client:
        yield client


def failover(session: "Session", begins_within_s: float, done_within_s: float) -> Evidence:
    """Have Atlas restart the primary; effective when a driver lost it."""
    from brownout.cluster.atlas.preconditions import unmet
    from brownout.cluster.mongodb.discovery import PrimaryWatch

    cluster, stopped = session.cluster, session.interruption.must_stop
    acts, changes = session.faults.acts, session.faults.changes
    with asking(cluster) as client, PrimaryWatch(cluster) as watch:
        watch.await_primary(_FIND_S, stopped)
        objections = unmet(gather(client, cluster, session.adapter), datetime.now(UTC))
        missing = lacks(session.adapter, "whole")
        guards.refuse(guards.of_change(cluster, None, "failover", missing, objections))
        acts.before_break()
        entry = acts.intend(Act("break", "test_failover", None))
        requested = time.monotonic()
        with changes.half_made():  # no milestone counts before Atlas has begun
            proof = acts.do(entry, lambda: _request(client, watch, begins_within_s, stopped))
        evidence = acts.prove(entry, proof)
        _await_applied(client, done_within_s, stopped)
        took = {"finished_after_s": round(time.monotonic() - requested, 3)}
        return {"node": None, **evidence, **took, "primary": watch.await_primary(_FIND_S, stopped)}


def gather(client: "AtlasClient", cluster: Cluster, adapter: Adapter) -> "Facts":
    """Return what Atlas's conditions are about, each asked of who knows it."""
    from brownout.cluster.atlas.preconditions import PRIMARIES, Facts
    from brownout.cluster.mongodb.room import free_disk

    own = {node.address for node in cluster.nodes}
    every = client.processes()
    processes = [p for p in every if p.id in own or f"{p.user_alias}:{p.port}" in own]
    return Facts(
        cluster=client.cluster(),
        pending=client.status().change_status == "PENDING",
        outage=client.outage(),
        processes=processes,
        lags_s={member.node: member.lag_s for member in adapter.members()},
        free_disk=free_disk(cluster),
        oplog_s={p.id: _latest(client, p.id) for p in processes if p.type_name in PRIMARIES},
    )


def _latest(client: "AtlasClient", process: str) -> float | None:
    """Return the last figure that Atlas has of the oplog of `process`, in seconds."""
    found = client.measurements(process, [_OPLOG]).measurements
    values = [p.value for one in found for p in one.data_points if p.value is not None]
    return values[-1] if values else None


def _request(
    client: "AtlasClient", watch: "PrimaryWatch", within_s: float, stopped: Stopped
) -> Proof:
    from brownout.cluster.mongodb.discovery import HEARTBEAT_S

    requested = time.monotonic()
    client.restart_primaries()
    loss = watch.await_loss(requested, within_s, stopped)
    if loss is None:
        raise ClusterError(
            f"Atlas took the request, and the primary is the same after {within_s:.0f} s",
            "it may still begin: look at the cluster before anything else is broken",
        )
    seen = {"primary": loss.before, "began_after_s": round(loss.at - requested, 3)}
    return Proof(loss.at, HEARTBEAT_S, seen)


def _await_applied(client: "AtlasClient", within_s: float, stopped: Stopped) -> None:
    deadline = time.monotonic() + within_s
    while client.status().change_status != "APPLIED":
        if time.monotonic() > deadline or stopped():
            raise ClusterError(
                f"Atlas has not finished within {within_s:.0f} s", "look at the cluster in Atlas"
            )
        time.sleep(_POLL_S)
