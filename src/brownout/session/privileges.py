"""Whether the logins have every privilege that a run's acts need: asked before it begins.

The load may have a login of its own, which then needs what the load does, and no more.
"""

from collections.abc import Iterable
from contextlib import closing

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Adapter, Privileged, adapter_for
from brownout.faults.guards import Guard
from brownout.inventory.database import database
from brownout.inventory.grants import EVERY_RUN, LOAD, Grant
from brownout.inventory.model import Cluster

__all__ = ["is_general", "missing", "privileges", "user_of"]


def privileges(
    cluster: Cluster, adapter: Adapter, acts: Iterable[str], namespace: str
) -> list[Guard]:
    """Return a refusal for each privilege that a run of these acts needs and its login misses."""
    wanted = [
        grant for grant in database(cluster.database).grants if grant.wanted_for(frozenset(acts))
    ]
    try:
        absent = missing(cluster, adapter, wanted, namespace)
    except ClusterError as error:
        return [Guard("privileges", False, error.message, error.hint)]
    if absent is None:
        return []
    if not absent:
        return [Guard("privileges", True, "the login has all that these acts need")]
    return [_refusal(grant, user_of(cluster, grant), namespace) for grant in absent]


def missing(
    cluster: Cluster, adapter: Adapter, grants: list[Grant], namespace: str
) -> list[Grant] | None:
    """Return which of `grants` the login that needs them does not have.

    None where no server can be asked.
    """
    if not isinstance(adapter, Privileged):
        return None
    own = cluster.as_the_load
    ours = [grant for grant in grants if own is cluster or not _is_loads(grant)]
    absent = adapter.missing_grants(ours, namespace)
    if own is not cluster:
        with closing(adapter_for(own)) as of_load:
            if isinstance(of_load, Privileged):
                absent += of_load.missing_grants(list(filter(_is_loads, grants)), namespace)
    return absent


def _is_loads(grant: Grant) -> bool:
    return set(grant.acts) == {LOAD}


def is_general(grant: Grant) -> bool:
    """Return whether every run needs it, whatever it breaks."""
    return bool({EVERY_RUN, LOAD} & set(grant.acts))


def user_of(cluster: Cluster, grant: Grant) -> str:
    """Return who needs a grant, as the inventory says it."""
    auth = (cluster.as_the_load if _is_loads(grant) else cluster).connection.auth
    return (auth.username if auth is not None else "") or "USER"


def _refusal(grant: Grant, user: str, namespace: str) -> Guard:
    privilege, statement = grant.words(user, namespace)
    return Guard(
        "privileges",
        False,
        f"the login `{user}` does not have {privilege}, which {', '.join(grant.acts)} needs",
        f"give it by `{statement}`",
    )
