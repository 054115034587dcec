"""Bringing a node back that has no data: when it may start, and how the others get to know it.

A master that keeps its place in the cluster (`nodes.conf`) and comes back without data before a
replica was promoted is master again, and has its replica copy nothing: the shard's data is gone.
One that lost `nodes.conf` as well comes back as a stranger, and is introduced.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.redis.link import CommandFailed, Link
from brownout.databases.redis.milestones import masters_of
from brownout.databases.redis.view import SLOTS, View, in_words
from brownout.inventory.model import Node

__all__ = ["await_successor", "introduce", "owns_slots"]

#: A failover takes the node time-out, at most 15 s as a server comes, and an election.
_PROMOTED_S = 45.0
_WITHIN_S = 60.0
_POLL_S = 0.1

Look = Callable[[], Sequence[View]]


def owns_slots(address: str, views: Sequence[View]) -> frozenset[int]:
    """Return the slots that the node at `address` would be master of if it came back now.

    These are those without a master that answers which the others give to it. Where none of them
    knows the address, as a name for a number, these are all slots without such a master.
    """
    taken = frozenset(slot for view in masters_of(views) for slot in view.slots)
    entries = [entry for view in views for entry in view.listed
            if entry.at == address and "myself" not in entry.flags]  # fmt: skip
    its = frozenset(slot for entry in entries for slot in entry.slots)
    return (its if entries else frozenset(range(SLOTS))) - taken


def await_successor(node: Node, views: Look) -> None:
    """Wait until another node is master of what `node`, which would start empty, was master of.

    Raises `ClusterError` if none is in time; then it must not be started.
    """
    owned = wait_until(
        lambda: owns_slots(node.address, views()), _PROMOTED_S, _POLL_S, so=lambda slots: not slots
    )
    if owned:
        raise ClusterError(
            f"node `{node.name}` is not started: it has no data, is still the master of the slots "
            f"{in_words(owned)}, and would have its replica copy nothing: no replica was promoted "
            f"within {_PROMOTED_S:g} s",
            "promote its replica by `CLUSTER FAILOVER TAKEOVER`, then start it",
        )


def introduce(
    node: Node, links: Mapping[str, Link], shards: Mapping[str, str], views: Look
) -> Mapping[str, Any]:
    """Have `node`, which has just started and knows no other node, join as a replica; repeatable.

    It replicates the master of its own shard, or the one with the fewest replicas, and the others
    forget who was at its address before. Returns what was done for the event of its start.
    """
    done: dict[str, Any] = {}

    def attempt() -> bool:
        return _once(node, links, shards, views(), done)

    if not wait_until(attempt, _WITHIN_S, _POLL_S, despite=ClusterError):
        raise ClusterError(
            f"node `{node.name}` was started, and did not join its cluster within {_WITHIN_S:g} s",
            "see its log; `CLUSTER MEET` and `CLUSTER REPLICATE` do by hand what was tried",
        )
    return done


def _once(
    node: Node,
    links: Mapping[str, Link],
    shards: Mapping[str, str],
    views: Sequence[View],
    done: dict[str, Any],
) -> bool:
    """Do the next step of an introduction; whether it is over."""
    own = next(view for view in views if view.node == node.name)
    if own.error or own.state == "LOADING":
        raise ClusterError(own.error or f"node `{node.name}` is loading")
    masters = [view for view in masters_of(views) if view.node != node.name]
    if not masters:
        raise ClusterError("no other node is a master")
    if own.master or own.slots:
        _forget(own, links, views, done)
        return True
    master = _master_for(node, masters, shards, views)
    at = master.own
    assert at is not None  # it has slots
    if master.id not in {entry.id for entry in own.listed if "handshake" not in entry.flags}:
        host, _, port = at.at.rpartition(":")
        links[node.name].ask("CLUSTER", "MEET", host, port, str(at.bus or int(port) + 10000))
        return False
    links[node.name].ask("CLUSTER", "REPLICATE", master.id)
    done |= {"added_node": own.id, "replicates": master.node}
    return False


def _master_for(
    node: Node, masters: Sequence[View], shards: Mapping[str, str], views: Sequence[View]
) -> View:
    of_shard = [m for m in masters if node.shard and shards.get(m.node) == node.shard]
    replicas = {m.id: sum(view.master == m.id for view in views) for m in masters}
    return min(of_shard or masters, key=lambda m: replicas[m.id])


def _forget(
    own: View, links: Mapping[str, Link], views: Sequence[View], done: dict[str, Any]
) -> None:
    """Have every other node forget who was at the address before, which it knows by an old id.

    Once a node has noticed that another server answers there, it lists the old id as `noaddr`.
    """
    own_ids = {view.id for view in views}
    places = {own.address, own.own.at if own.own else ""}
    for view in views:
        for entry in view.listed:
            gone = entry.at in places or "noaddr" in entry.flags
            if entry.id in own_ids or entry.slots or not gone:
                continue
            try:
                links[view.node].ask("CLUSTER", "FORGET", entry.id)
            except CommandFailed as error:
                if "Unknown node" not in error.reply:
                    raise
            done["forgot"] = entry.id
