"""What is asked of Atlas about a cluster that it runs, and of the cluster's members.

What Atlas tells is minutes old: it is context. Who leads and who is behind is asked of the members
themselves, as in `mongodb`, and what Atlas says of them stands beside it.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.atlas import evidence
from brownout.base.errors import ConfigurationError
from brownout.databases.mongodb import figures
from brownout.databases.mongodb.only import members_of
from brownout.faults.atlas.cluster_state import asking, own_processes, state_of
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = [
    "cluster_state",
    "elections",
    "events",
    "pending_changes",
    "primaries",
    "process_measurements",
    "replication_lag",
]

Answer = dict[str, Any]


@activity
def cluster_state(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return what Atlas says the cluster is and has done to it.

    `{"state": "IDLE", "paused": false, "pending": false, "type": "REPLICASET", "version": "8.0.4",
    "sizes": ["M30 with 40 GB"], "nodes": {"US_EAST_1": 3}, "outage": null}`
    """
    with asking(current().cluster) as client:
        return evidence.of_state(state_of(client))


@activity
def pending_changes(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether Atlas has something left to do that was asked for."""
    with asking(current().cluster) as client:
        return client.status().change_status == "PENDING"


@activity
def primaries(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many members are primary by their own word; `atlas` has what Atlas says of each.

    As `mongodb.primaries`: 1 is as it should be, 0 an outage of writes.
    """
    session = current()
    with asking(session.cluster) as client:
        types = {p.id: p.type_name for p in own_processes(client, session.cluster)}
    return {**figures.primaries(members_of(session.cluster, session.adapter)), "atlas": types}


@activity
def elections(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many elections were held since this run began, by the set's term.

    As `mongodb.elections`: one without a winner counts too.
    """
    session = current()
    members = members_of(session.cluster, session.adapter)
    return figures.elections_since(members, session.whole_at_start)


@activity
def replication_lag(
    node: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> Answer:
    """Return how many seconds the member that is furthest behind lags its primary, or `node`."""
    session = current()
    name = session.node(node).name if node else ""
    return figures.replication_lag(members_of(session.cluster, session.adapter), name)


@activity
def process_measurements(
    measurements: str = "OPLOG_SLAVE_LAG_MASTER_TIME",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> Answer:
    """Return the latest point of up to ten `measurements` (names by commas) of every process.

    `{"h1:27017": {"OPLOG_SLAVE_LAG_MASTER_TIME": {"value": 0.0, "units": "SECONDS", "at": "…"}}}`;
    `value` is null where Atlas has no point. One a minute: too coarse for a dip.
    """
    names = [name.strip() for name in str(measurements).split(",") if name.strip()]
    if not names:
        raise ConfigurationError(f"measurements: found {measurements!r}, wanted names")
    session = current()
    with asking(session.cluster) as client:
        return {
            process.id: evidence.of_measurements(client.measurements(process.id, names))
            for process in own_processes(client, session.cluster)
        }


@activity
def events(
    minutes: float = 60.0, configuration: Configuration = None, secrets: Secrets = None
) -> list[dict[str, str]]:
    """Return what Atlas noted about the cluster in the last `minutes`, the newest first.

    `[{"name": "PRIMARY_ELECTED", "at": "2026-11-21T18:19:40Z"}, …]`
    """
    with asking(current().cluster) as client:
        return evidence.of_events(client.events(evidence.ago(float(minutes))))
