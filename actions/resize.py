"""Change which nodes a cluster consists of while it serves, on any database that can.

Everything that these change is put back by the rollback `put_back`, the latest change first: the
cluster ends with the members that it began with. A spare (`spares` of the inventory) that was
added and is out again is left empty where the inventory allows its data to be wiped.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["add_node", "admit_node", "remove_node"]


@activity
def add_node(
    node: str = "spare", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Start `node` and make it a member; the data that it is to hold then moves to it.

    `node` is `spare`, the first spare of the inventory that is no member, or a name. Refused
    while the cluster is degraded or still moves data. Undone by `remove_node`.
    """
    session = current()
    return session.faults.changes.add(session.node(node))


@activity
def admit_node(
    node: str = "added", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Give a `node` that was added, and has its data, its full say: a vote and a priority.

    `node` is `added`, the one that was added last, or a name. Does nothing where a database has
    no such step, as Aerospike.
    """
    session = current()
    return session.faults.changes.admit(session.node(node))


@activity
def remove_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Have `node` hand over what it does, stop it, and have the others forget it.

    Aerospike Enterprise quiesces it first, a primary of MongoDB steps down first. Refused where
    too few copies or votes would stay. Undone by `add_node`.
    """
    session = current()
    return session.faults.changes.remove(session.node(node))
