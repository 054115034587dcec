"""Judging what the members said: rejoined, redundant, whole. Pure functions over views.

Every member is believed about itself only; each milestone includes the one before it.

    rejoined    every member's PostgreSQL runs, one is primary, and all are on its timeline
    redundant   and every replica streams from the primary and has all but the last of its WAL,
                also if it replays that later (`recovery_min_apply_delay`)
    whole       and the cluster has exactly the members of the inventory, and Patroni is not paused

Where nothing keeps a list of members, as without Patroni, `whole` is `redundant` of one cluster.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.milestones import missing_until
from brownout.databases.postgresql.view import PRIMARY, REPLICA, View
from brownout.databases.view import clusters, is_silence

__all__ = ["MAX_BEHIND", "judge", "lost_with", "objections_to_orphan", "primary_of"]
__all__ += ["signature_of", "successor_of"]

#: How many bytes of WAL a replica may be behind the primary and still count as a copy: Patroni's
#: own default for one that may be promoted (`maximum_lag_on_failover`). Two members answer some
#: time apart, and the load keeps writing in between.
MAX_BEHIND = 2**20


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


def primary_of(views: Sequence[View]) -> View | None:
    """Return the primary; of two, the one of the later timeline."""
    primaries = [view for view in views if view.state == PRIMARY]
    return max(primaries, key=lambda view: view.timeline, default=None)


def successor_of(primary: View, views: Sequence[View]) -> View | None:
    """Return the replica that is to take over: one that streams, and of these the furthest.

    One that its tags keep from leading does not count. Where commits wait for a replica only that
    one may take over.
    """
    streams = primary.streams
    ready = [view for view in views if view.state == REPLICA and view.name in streams]
    waited_for = [view for view in ready if streams[view.name] in ("sync", "quorum")]
    may_lead = [view for view in waited_for or ready if view.may_lead]
    return max(may_lead, key=lambda view: view.at, default=None)


def objections_to_orphan(
    node: str, views: Sequence[View], of_a_replica: bool, may_lose: bool
) -> list[str]:
    """Return in words why the Patroni of `node` may not be killed alone.

    `may_lose` says that acknowledged writes may be lost: an orphaned primary keeps acknowledging
    after another one was promoted, unless its commits wait for that one.
    """
    own = next(view for view in views if view.node == node)
    if own.error:
        return [own.error]
    reasons = []
    if not own.listed:
        reasons.append(f"{node}'s Patroni does not reach its store (DCS): promotion is impossible")
    if any(view.paused for view in views):
        reasons.append("Patroni is paused: it would promote no replica")
    if own.state != PRIMARY:
        if not of_a_replica:
            reasons.append(
                f"{node} is {own.state}, so no replica would be promoted; if that is intended, set "
                "`of_a_replica`"
            )
        return reasons
    waited_for = [name for name, how in own.streams.items() if how in ("sync", "quorum")]
    heirs = [
        view
        for view in views
        if view.state == REPLICA and view.may_lead and _is_close(view, own)
        if view.name in (waited_for or own.streams)
    ]
    if not heirs:
        reasons.append(f"no other member could be promoted instead of {node}")
    if not (waited_for or may_lose):
        reasons.append(
            f"what {node} acknowledges once another member is promoted is lost, and the inventory "
            "does not say `allow_data_loss: true`"
        )
    return reasons


def lost_with(gone: Collection[str], views: Sequence[View]) -> list[str]:
    """Return in words what would be lost if the members `gone` lost their data.

    A replica copies what the primary has acknowledged already. While the primary serves, one that
    streams from it is a copy. Once it is gone, only it may have the latest writes until another
    member is primary; from then on the cluster will never take back what it had.
    """
    rest = [view for view in views if view.node not in gone]
    old, primary = primary_of(views), primary_of(rest)
    names = ", ".join(sorted(gone))
    if not any(view.serves for view in rest):
        return [f"no member but {names} has the data"]
    if old is not None and old.node in gone:
        copies = [view for view in rest if view.name in old.streams and _is_close(view, old)]
        return [] if copies else [f"no other member streams from {old.node} and is close to it"]
    if primary is None:
        return [f"no other member is primary yet, so that only {names} may have the latest writes"]
    newest = max(view.timeline for view in views)
    if primary.timeline < newest:
        return [
            f"{primary.node} is primary on timeline {primary.timeline}, and there is a timeline "
            f"{newest}"
        ]
    return []


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once the cluster has noticed that something changed.

    Who leads is what the members say that answer, since Patroni keeps a leader that has died for as
    long as its lease lasts. A replica is noticed by the primary as soon as its stream breaks.
    """
    counts = Counter(
        (one.name, one.timeline)
        for view in views
        for one in view.listed
        if one.leads and view.serves
    )
    leader = "@".join(map(str, counts.most_common(1)[0][0])) if counts else "none"
    named = leader.partition("@")[0]
    others = (
        f"{view.node}={view.state}"
        + (f"@{view.timeline}" if view.status else "")
        + (f"<-{view.upstream}" if view.upstream else "")
        for view in views
        if (view.name or view.node) != named
    )
    return "; ".join((f"leader={leader}", *others))


def _not_rejoined(views: Sequence[View]) -> list[str]:
    missing = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    primary = primary_of(views)
    if primary is None:
        return [*missing, "no member is primary"]
    for view in views:
        if view.state == PRIMARY and view is not primary:
            missing.append(f"{view.node} is primary as well, on timeline {view.timeline}")
        elif view.serves and view.timeline != primary.timeline:
            missing.append(
                f"{view.node} is on timeline {view.timeline}, {primary.node} on {primary.timeline}"
            )
    return missing


def _not_redundant(views: Sequence[View]) -> list[str]:
    primary = primary_of(views)
    if primary is None:
        return []
    missing = []
    for view in views:
        if view.state != REPLICA:
            continue
        if view.name not in primary.streams:
            missing.append(f"{view.node} does not stream from {primary.node}")
        elif not _is_close(view, primary):
            behind = primary.has - view.has
            missing.append(f"{view.node} is {behind} bytes behind (wanted {MAX_BEHIND})")
    return missing


def _is_close(view: View, primary: View) -> bool:
    return primary.has - view.has <= MAX_BEHIND


def _not_whole(views: Sequence[View]) -> list[str]:
    primary = primary_of(views)
    if primary is None:
        return []
    missing = _not_listed(primary, views) if primary.supervised else []
    if len(names := clusters(views)) > 1:
        missing.append(f"the members are of {len(names)} clusters")
    if any(view.paused for view in views):
        missing.append("Patroni is paused: it would promote no replica")
    return missing


def _not_listed(primary: View, views: Sequence[View]) -> list[str]:
    ours = {view.name: view.node for view in views if view.name}
    listed = {one.name for one in primary.listed}
    missing = [f"{node} is not a member of the cluster" for name, node in ours.items()
               if name not in listed]  # fmt: skip
    if len(ours) == len(views):
        strangers = sorted(listed - set(ours))
        missing += [f"{name} is a member, but not in the inventory" for name in strangers]
    return missing


def _detail(views: Sequence[View], missing: list[str]) -> dict[str, Any]:
    primary = primary_of(views)
    return {
        "missing": missing,
        "primary": primary.node if primary else None,
        "timeline": primary.timeline if primary else None,
        "members": {view.node: view.evidence() for view in views},
    }
