"""What is asked of a replica set, of each of its members itself.

Figures are `{"value": 1, "status": "measured", "nodes": {"n1": 4, …}}`. Where a member that has to
be asked is silent, `status` is `no_data`, `value` is null and `missing` says why: that is never
within a limit.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.databases.mongodb import figures
from brownout.databases.mongodb.only import members_of
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["elections", "members", "primaries", "replication_lag"]

Answer = dict[str, Any]


@activity
def primaries(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many members are primary by their own word; `nodes` has each one's term.

    1 (one for each shard) is as it should be, fewer an outage of writes, more what a partition
    leaves until the old one knows.
    """
    session = current()
    return figures.primaries(members_of(session.cluster, session.adapter))


@activity
def elections(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many elections were held since this run began, by the set's term.

    One without a winner counts too, since it takes a term; `nodes` has the term of each member.
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
def members(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many members serve; `nodes` has each one's address, role, state and lag."""
    session = current()
    return figures.members(members_of(session.cluster, session.adapter))
