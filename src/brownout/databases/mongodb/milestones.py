"""Judging what the members said: rejoined, redundant, whole. Pure functions over views.

Every member is believed about itself only; each milestone includes the one before it.

    rejoined    every member is PRIMARY or SECONDARY (an arbiter: ARBITER), and none believes to
                be primary of a term that is over, as one that was paused does at first
    redundant   and one of them is primary, a majority has what it wrote in its term, every
                secondary is within 10 s of it (and the delay that it is configured for), and none
                copies all data
    whole       and the set has exactly the members of the inventory
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.milestones import missing_until
from brownout.databases.mongodb.view import PRIMARY, View

__all__ = ["MAX_LAG_S", "judge", "lags_s", "lost_with", "primary_of", "signature_of"]

#: How far a secondary may be behind the primary and still count as a copy.
MAX_LAG_S = 10.0


def judge(milestone: Milestone, views: Sequence[View]) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing."""
    missing = missing_until(
        milestone,
        lambda: _not_rejoined(views),
        lambda: _not_redundant(views),
        lambda: _not_whole(views),
    )
    unknown = bool(missing) and _is_unknown(milestone, views)
    return MilestoneState(not missing, _detail(views, missing), unknown)


def _is_unknown(milestone: Milestone, views: Sequence[View]) -> bool:
    """Whether only answers are missing, of members that no other member sees as down."""
    rest = [view for view in views if not view.timed_out]
    silent = {view.address for view in views} - {view.address for view in rest}
    seen_down = {address for view in rest for address, health in view.others.items() if not health}
    if not silent or silent & seen_down or any(_not_rejoined(rest)):
        return False
    if milestone == "rejoined":
        return True
    if primary_of(rest) is None:  # it may be one of the silent ones
        return True
    return not _not_redundant(rest) and not (milestone == "whole" and _not_whole(views))


def primary_of(views: Sequence[View]) -> View | None:
    """Return the primary; of two, as after a partition, the one of the later term."""
    primaries = [view for view in views if view.state == PRIMARY]
    return max(primaries, key=lambda view: view.term, default=None)


def lags_s(views: Sequence[View]) -> dict[str, float | None]:
    """Return by how much each member's last write is older than the primary's, in seconds."""
    primary = primary_of(views)
    head = primary.applied if primary else None
    return {view.node: _behind_s(head, view.applied) for view in views}


def lost_with(gone: Collection[str], views: Sequence[View]) -> list[str]:
    """Return in words what would be lost if the members `gone` lost their data.

    One of the others must have every write that any member has, and fewer must be gone than
    acknowledge a write.
    """
    rest = [view for view in views if view.node not in gone]
    head = max((view.applied for view in views if view.applied), default=None)
    copies = [
        view
        for view in rest
        if view.role in ("primary", "secondary")
        and not view.syncs_initially
        and (behind := _behind_s(head, view.applied)) is not None
        and behind <= MAX_LAG_S
    ]
    lost = [] if copies else [f"no member but {', '.join(sorted(gone))} has all data"]
    counts = [
        int(v.status["writeMajorityCount"]) for v in views if "writeMajorityCount" in v.status
    ]
    needed = max(counts, default=len(views) // 2 + 1)
    if len(gone) >= needed:
        lost.append(
            f"a write is acknowledged by {_members(needed)}, and {_members(len(gone))} would go"
        )
    return lost


def _members(count: int) -> str:
    return f"{count} member" + "s" * (count != 1)


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once a member went, came back, restarted or changed its role.

    It holds what each member says of itself and of the others' health, so that it changes both
    when a member falls silent and when the rest take notice.
    """
    return "; ".join(_signature(view) for view in views)


def _signature(view: View) -> str:
    if not view.hello:
        return f"{view.node}={view.state}"
    down = ",".join(sorted(name for name, health in view.others.items() if not health))
    return f"{view.node}={view.state}@{view.term}/{view.process}" + (
        f" without {down}" * bool(down)
    )


def _not_rejoined(views: Sequence[View]) -> list[str]:
    away = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    newest = max((view.term for view in views), default=-1)
    stale = [view for view in views if view.state == PRIMARY and view.term < newest]
    return away + [f"{v.node} is still primary of term {v.term}, now {newest}" for v in stale]


def _not_redundant(views: Sequence[View]) -> list[str]:
    primary = primary_of(views)
    if primary is None:
        return ["no member is primary"]
    missing = []
    count = sum(view.state == PRIMARY for view in views)
    if count > 1:
        missing.append(f"{count} members are primary")
    if primary.committed_term != primary.term:
        missing.append(f"no write of term {primary.term} is known to a majority yet")
    elif (_behind_s(primary.applied, primary.committed) or 0.0) > MAX_LAG_S:
        missing.append(f"the majority is more than {MAX_LAG_S:g} s behind")
    for view in views:
        missing += _not_a_copy(view, primary)
    return missing


def _not_a_copy(view: View, primary: View) -> list[str]:
    if view.state != "SECONDARY":
        return []
    if view.syncs_initially:
        return [f"{view.node} copies all data"]
    behind = _behind_s(primary.applied, view.applied)
    wanted_s = MAX_LAG_S + view.delay_s
    # Of a term that is younger than its delay a delayed one has nothing yet.
    if behind is None or (not view.delay_s and view.applied_term < primary.term):
        return [f"{view.node} has nothing of term {primary.term} yet"]
    if behind > wanted_s:
        return [f"{view.node} is {behind:.1f} s behind (wanted {wanted_s:g})"]
    return []


def _not_whole(views: Sequence[View]) -> list[str]:
    primary = primary_of(views)
    if primary is None:
        return []
    wanted, others = {view.address for view in views}, set(primary.others)
    missing = [f"{address} is not a member of the set" for address in sorted(wanted - others)]
    strangers = [f"{a} is a member, but not in the inventory" for a in sorted(others - wanted)]
    unseen = [
        f"{primary.node} sees {address} down"
        for address, health in sorted(primary.others.items())
        if not health
    ]
    return [*missing, *strangers, *unseen]


def _behind_s(head: datetime | None, own: datetime | None) -> float | None:
    if head is None or own is None:
        return None
    return max(0.0, (head - own).total_seconds())


def _detail(views: Sequence[View], missing: list[str]) -> dict[str, Any]:
    primary, lags = primary_of(views), lags_s(views)
    return {
        "missing": missing,
        "primary": primary.node if primary else None,
        "term": primary.term if primary else None,
        "members": {view.node: {**view.evidence(), "lag_s": lags[view.node]} for view in views},
    }
