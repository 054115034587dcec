"""Whether the login has every privilege that a run's acts need: asked before it begins."""

from collections.abc import Iterable

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Adapter, Privileged
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
        absent = missing(adapter, wanted, namespace)
    except ClusterError as error:
        return [Guard("privileges", False, error.message, error.hint)]
    if absent is None:
        return []
    if not absent:
        return [Guard("privileges", True, "the login has all that these acts need")]
    return [_refusal(grant, user_of(cluster), namespace) for grant in absent]


def missing(adapter: Adapter, grants: list[Grant], namespace: str) -> list[Grant] | None:
    """Return which of `grants` the login does not have; None where no server can be asked."""
    if not isinstance(adapter, Privileged):
        return None
    return adapter.missing_grants(grants, namespace)


def is_general(grant: Grant) -> bool:
    """Return whether every run needs it, whatever it breaks."""
    return bool({EVERY_RUN, LOAD} & set(grant.acts))


def user_of(cluster: Cluster) -> str:
    """Return who logs in, as the inventory says it."""
    auth = cluster.connection.auth
    return (auth.username if auth is not None else "") or "USER"


def _refusal(grant: Grant, user: str, namespace: str) -> Guard:
    privilege, statement = grant.words(user, namespace)
    return Guard(
        "privileges",
        False,
        f"the login `{user}` does not have {privilege}, which {', '.join(grant.acts)} needs",
        f"give it by `{statement}`",
    )
