"""Judging what the nodes said: rejoined, redundant, whole. Pure functions over views.

Every node is believed about itself only; each milestone includes the one before it.

    rejoined    every node is a master with slots or a replica with a link to its master, sees all
                slots served, and claims no slot by an epoch that is over
    redundant   and each slot has a master, each master a replica that has all but its latest
                writes, and every node names the same masters and sees no node as down
    whole       and the cluster has exactly the nodes of the inventory, in its shards, and no slot
                is on its way to another node
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.milestones import missing_until
from brownout.databases.redis.view import SLOTS, View, in_words
from brownout.databases.view import is_silence

__all__ = [
    "MAX_BEHIND",
    "judge",
    "lost_with",
    "masters_of",
    "overruled",
    "shards_of",
    "signature_of",
]

#: How many bytes of changes a replica may be behind its master and still count as a copy. Two
#: nodes answer some time apart, and the load keeps writing in between.
MAX_BEHIND = 2**20

#: The shard of each node, as the inventory names it; empty where it names none.
Shards = Mapping[str, str]


def judge(milestone: Milestone, views: Sequence[View], shards: Shards) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing."""
    missing = missing_until(
        milestone,
        lambda: _not_rejoined(views),
        lambda: _not_redundant(views),
        lambda: _not_whole(views, shards),
    )
    detail: dict[str, Any] = {
        "missing": missing,
        "primaries": {in_words(view.slots): view.node for view in masters_of(views)},
        "members": {view.node: view.evidence() for view in views},
    }
    return MilestoneState(not missing, detail, is_silence(views, _not_rejoined))


def masters_of(views: Sequence[View]) -> list[View]:
    """Return the masters with slots of which none is claimed by another one of a later epoch."""
    stale = overruled(views)
    return [view for view in views if view.slots and view not in stale]


def overruled(views: Sequence[View]) -> list[View]:
    """Return the masters that have not yet heard that another one took slots from them."""
    claiming = [view for view in views if view.slots]
    return [view for view in claiming if _overruled(view, claiming)]


def shards_of(views: Sequence[View]) -> dict[str, str]:
    """Return the shard of each node as the nodes have it now, by the name of its master."""
    names = {view.id: view.node for view in views if view.id}
    return {view.node: names.get(view.master, view.node) for view in views}


def lost_with(gone: Collection[str], views: Sequence[View]) -> list[str]:
    """Return in words what would be lost if the nodes `gone` lost their data.

    A slot is safe with a master that stays, or with a replica that stays and has what its master
    has. A master that does not answer still owns its slots until its replica is promoted, and if it
    came back without data before that, it would empty its replica.
    """
    masters = masters_of(views)
    safe = {slot for view in masters if view.node not in gone for slot in view.slots}
    lost = []
    for master in masters:
        if master.node not in gone:
            continue
        copies = [view for view in _copies(master, views) if view.node not in gone]
        if not any(_behind(master, copy) <= MAX_BEHIND for copy in copies):
            lost.append(f"no other node has all of {master.node}'s slots {in_words(master.slots)}")
        safe |= master.slots
    orphaned = frozenset(range(SLOTS)) - safe
    if orphaned:
        lost.append(
            f"the slots {in_words(orphaned)} have no master that answers: no replica is promoted "
            "yet, and a master that comes back without its data would empty its replica"
        )
    return lost


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once a node went, came back or changed its role."""
    return "; ".join(
        f"{view.node}={view.state}" + (f"@{view.epoch}/{view.id}" if view.id else "")
        for view in views
    )


def _overruled(view: View, claiming: Sequence[View]) -> bool:
    return any(other.epoch > view.epoch and other.slots & view.slots for other in claiming)


def _copies(master: View, views: Sequence[View]) -> list[View]:
    return [view for view in views if view.master == master.id and view.linked]


def _behind(master: View, copy: View) -> int:
    return master.offset - copy.offset


def _not_rejoined(views: Sequence[View]) -> list[str]:
    missing = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    return missing + [
        f"{v.node} still claims slots by the old epoch {v.epoch}" for v in overruled(views)
    ]


def _not_redundant(views: Sequence[View]) -> list[str]:
    masters = masters_of(views)
    missing: list[str] = []
    owned = frozenset(slot for master in masters for slot in master.slots)
    if len(owned) < SLOTS:
        missing.append(f"the slots {in_words(frozenset(range(SLOTS)) - owned)} have no master")
    for master in masters:
        behind = [_behind(master, copy) for copy in _copies(master, views)]
        if not behind:
            missing.append(f"{master.node} has no replica")
        elif min(behind) > MAX_BEHIND:
            wanted = f"wanted {MAX_BEHIND}"
            missing.append(f"the replica of {master.node} is {min(behind)} bytes behind ({wanted})")
    truth = {master.id: master.slots for master in masters}
    names = {view.id: view.node for view in views if view.id}
    for view in (view for view in views if view.listed):
        slots_of = {entry.id: entry.slots for entry in view.listed if entry.slots}
        if slots_of != truth:
            missing.append(f"{view.node} names other masters than they do themselves")
        down = [names[e.id] for e in view.listed if e.failed and e.id in names]
        missing += [f"{view.node} sees {node} as down" for node in down]
    return missing


def _not_whole(views: Sequence[View], shards: Shards) -> list[str]:
    ours = {view.id for view in views if view.id}
    missing: list[str] = []
    if len(ours) == len(views):
        strangers = {
            entry.at or entry.id: view.node
            for view in views
            for entry in view.listed
            if entry.id not in ours
        }
        missing += [f"{at} is a node of the cluster (as {node} says), but not in the inventory"
                    for at, node in strangers.items()]  # fmt: skip
    now = shards_of(views)
    for view in views:
        master = now[view.node]
        if shards.get(master, "") != shards.get(view.node, ""):
            wanted = f"of another one than {shards.get(view.node)!r}"
            missing.append(f"{view.node} is a replica of {master}, which is of a shard {wanted}")
        moving = view.own.moving if view.own else ()
        missing += [f"{view.node} moves the slot {words}" for words in moving]
    return missing
