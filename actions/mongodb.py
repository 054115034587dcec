"""What only a MongoDB replica set can do."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import ClusterError
from brownout.session.activity import actions_of, activity
from brownout.session.current import current

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(["add_member", "remove_member", "resize_oplog", "set_votes_and_priority", *_MADE])


@activity
def add_member(
    node: str = "spare",
    timeout_s: float = 300.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Add `node` to the set, wait out its initial sync, and give it its vote: three steps in one.

    They are `resize.add_node`, `cluster.wait_until` redundant, and `resize.admit_node`. Fails,
    with the member added and without a vote, if it is not a secondary within `timeout_s` seconds.
    """
    session = current()
    member = session.node(node)
    added = session.faults.run("add_node", member)
    if session.await_milestone("redundant", float(timeout_s)) is None:
        raise ClusterError(
            f"member `{member.name}` is not a secondary after {float(timeout_s):.0f} s",
            "its initial sync may need longer: raise `timeout_s`",
        )
    session.faults.run("admit_node", member)
    return added


@activity
def remove_member(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Take `node` out of the set, a primary after it stepped down, and stop it.

    Refused where the last voter, or a majority, would go. Undone by `add_member`.
    """
    session = current()
    return session.faults.run("remove_node", session.node(node))


@activity
def set_votes_and_priority(
    node: str = "target",
    votes: int = 1,
    priority: float = 1.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Give `node` so many `votes` (0 or 1) and this `priority` (0 to 1000; 0 is never primary).

    A primary whose priority falls below another's hands over. Put back by the rollback.
    """
    session = current()
    value = {"votes": int(votes), "priority": float(priority)}
    target = session.node(node)
    return session.faults.run("adjust", target, setting="votes_and_priority", value=value)


@activity
def resize_oplog(
    mb: float,
    node: str = "target",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Give the oplog of `node` this size in MB (`replSetResizeOplog`). Put back by the rollback."""
    session = current()
    return session.faults.run("adjust", session.node(node), setting="oplog_mb", value=float(mb))
