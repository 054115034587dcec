"""Judging what the members said: rejoined, redundant, whole. Pure functions over views.

Every member is believed about itself only; each milestone includes the one before it.

    rejoined    every member knows a leader, or is it, and none believes in one of a term that
                is over, as one that was paused does at first
    redundant   and one of them leads, all name it, and every follower has applied all but the
                last entries of the leader's log
    whole       and the cluster has exactly the members of the inventory, none of them a learner,
                and no alarm is raised
"""

from collections.abc import Collection, Sequence
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.etcd.view import LEADER, View
from brownout.databases.milestones import missing_until
from brownout.databases.view import clusters, is_silence

__all__ = ["MAX_BEHIND", "judge", "leader_of", "lost_with", "signature_of"]

#: How many entries a follower may be behind the leader and still count as a copy. Two members
#: answer some time apart, and the load keeps writing in between; what a member missed while away is
#: usually more, and is sent at once.
MAX_BEHIND = 1000


def judge(milestone: Milestone, views: Sequence[View]) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing."""
    missing = missing_until(
        milestone,
        lambda: _not_rejoined(views),
        lambda: _not_redundant(views),
        lambda: _not_whole(views),
    )
    unknown = is_silence(views, _not_rejoined)
    return MilestoneState(not missing, _detail(views, missing), unknown)


def leader_of(views: Sequence[View]) -> View | None:
    """Return the leader; of two, as after a partition, the one of the later term."""
    leaders = [view for view in views if view.state == LEADER]
    return max(leaders, key=lambda view: view.term, default=None)


def lost_with(gone: Collection[str], views: Sequence[View]) -> list[str]:
    """Return in words what would be lost if the members `gone` lost their data.

    An acknowledged write is on a quorum, so fewer must go than that; and the others must be a
    quorum that serves, since it takes one to have them back as new members.
    """
    needed = len(views) // 2 + 1
    rest = [view for view in views if view.node not in gone and view.role in _COPIES]
    lost = []
    if len(gone) >= needed:
        lost.append(
            f"a write is acknowledged by {_members(needed)}, and {_members(len(gone))} would go"
        )
    if len(rest) < needed:
        lost.append(
            f"without {', '.join(sorted(gone))} {_members(len(rest))} of {len(views)} serve, which "
            "is less than a quorum: no member could be taken in again"
        )
    return lost


_COPIES = frozenset({"primary", "secondary"})


def _members(count: int) -> str:
    return f"{count} member" + "s" * (count != 1)


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once a member went, came back or changed its role."""
    return "; ".join(
        f"{view.node}={view.state}" + (f"@{view.term}/{view.id}" if view.status else "")
        for view in views
    )


def _not_rejoined(views: Sequence[View]) -> list[str]:
    away = [
        f"{view.node} is {'CORRUPT' if view.corrupt else view.state}"
        + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    newest = max((view.term for view in views), default=-1)
    stale = [view for view in views if view.status and view.term < newest]
    return away + [f"{v.node} is still in term {v.term}, now {newest}" for v in stale]


def _not_redundant(views: Sequence[View]) -> list[str]:
    leader = leader_of(views)
    if leader is None:
        return ["no member leads"]
    missing = []
    for view in views:
        if view.role != "secondary":
            continue
        if view.leader != leader.id:
            missing.append(f"{view.node} follows another leader than {leader.node}")
        elif leader.applied - view.applied > MAX_BEHIND:
            behind = leader.applied - view.applied
            missing.append(f"{view.node} is {behind} entries behind (wanted {MAX_BEHIND})")
    return missing


def _not_whole(views: Sequence[View]) -> list[str]:
    leader = leader_of(views)
    if leader is None:
        return []
    ours = {view.id: view.node for view in views if view.id}
    listed = {entry.id for entry in leader.listed}
    missing = [f"{node} is not a member of the cluster" for id, node in ours.items()
               if id not in listed]  # fmt: skip
    for entry in leader.listed:
        name = entry.name or f"at {', '.join(entry.peer_urls)}"
        if not entry.name:
            missing.append(f"the member {name} has not started yet")
        elif entry.id not in ours and len(ours) == len(views):
            missing.append(f"{name} is a member, but not in the inventory")
        if entry.learner:
            missing.append(f"{name} is a learner")
    if len(names := clusters(views)) > 1:
        missing.append(f"the members are of {len(names)} clusters")
    return missing + sorted({alarm for view in views for alarm in view.alarms})


def _detail(views: Sequence[View], missing: list[str]) -> dict[str, Any]:
    leader = leader_of(views)
    return {
        "missing": missing,
        "primary": leader.node if leader else None,
        "term": leader.term if leader else None,
        "members": {view.node: view.evidence() for view in views},
    }
