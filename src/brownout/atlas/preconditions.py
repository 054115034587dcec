"""What Atlas wants of a cluster before it tests a failover. Pure: facts in, sentences out.

The conditions are those of Atlas's documentation ("Test Primary Failover"); where one is not met
Atlas may refuse, or do it and lose more than a primary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from brownout.atlas.answers import AtlasCluster, Outage, Process
from brownout.atlas.sizes import SHARED, sizes

__all__ = ["PRIMARIES", "Facts", "of_state", "unmet"]

_MEMBERS = ("REPLICA_PRIMARY", "REPLICA_SECONDARY", "SHARD_PRIMARY", "SHARD_SECONDARY")
PRIMARIES = ("REPLICA_PRIMARY", "SHARD_PRIMARY")
MOST_LAG_S = 10.0
LEAST_DISK = 0.05
LEAST_OPLOG_S = 3 * 3600.0
#: Ours: Atlas says `fresh` without a figure, and measures once a minute.
FRESH = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a cluster; a figure that could not be had is None, and none is a pass.

    `processes` are this cluster's members only. Keys of the figures are the members' names;
    `free_disk` is a ratio, `oplog_s` the time that the oplog of a primary covers.
    """

    cluster: AtlasCluster
    pending: bool
    outage: Outage | None
    processes: Sequence[Process]
    lags_s: Mapping[str, float | None]
    free_disk: Mapping[str, float | None]
    oplog_s: Mapping[str, float | None]


def unmet(facts: Facts, now: datetime) -> list[str]:
    """Return each condition that is not met, in a sentence; none where a failover can be tested."""
    return [
        *of_state(facts.cluster, facts.pending, facts.outage),
        *_members(facts.processes, now),
        *_figures("replication lag", facts.lags_s, MOST_LAG_S, "s", below=True),
        *_figures("free disk", facts.free_disk, LEAST_DISK, "of the volume", below=False),
        *_figures("oplog", facts.oplog_s, LEAST_OPLOG_S, "s", below=False),
    ]


def of_state(cluster: AtlasCluster, pending: bool, outage: Outage | None) -> list[str]:
    """Return why nothing at all may be asked of the cluster now."""
    shared = sorted({tier for tier, _ in sizes(cluster.replication_specs) if tier in SHARED})
    problems = [f"the tier is {tier}, wanted M10 or larger" for tier in shared]
    if cluster.paused:
        problems.append("the cluster is paused")
    if cluster.state_name != "IDLE" or pending:
        problems.append(f"a change is under way: the cluster is {cluster.state_name}")
    if outage is not None and outage.state != "COMPLETE":
        problems.append(f"an outage is simulated: it is {outage.state}")
    return problems


def _members(processes: Sequence[Process], now: datetime) -> list[str]:
    if not processes:
        return ["Atlas lists no process of this cluster"]
    problems = [
        f"{process.id} is {process.type_name}"
        for process in processes
        if process.type_name not in _MEMBERS
    ]
    problems += [
        f"{process.id} was last heard of at {process.last_ping or 'no time'}"
        for process in processes
        if process.last_ping is None or now - process.last_ping > FRESH
    ]
    sets = sorted({process.replica_set_name for process in processes})
    led = {p.replica_set_name for p in processes if p.type_name in PRIMARIES}
    return problems + [f"the set {name} has no primary" for name in sets if name not in led]


def _figures(
    what: str, by_member: Mapping[str, float | None], limit: float, unit: str, below: bool
) -> list[str]:
    """Return who is beyond `limit`, and of whom it is not known."""
    wanted = f"wanted {'less than' if below else 'at least'} {limit:g} {unit}"
    problems = [f"{what} is unknown for every member, {wanted}"] if not by_member else []
    for name, value in by_member.items():
        if value is None:
            problems.append(f"{what} of {name} is not known, {wanted}")
        elif (value >= limit) if below else (value < limit):
            problems.append(f"{what} of {name} is {value:g}, {wanted}")
    return problems
