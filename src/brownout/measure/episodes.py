"""From events to episodes: the events of one fault, from its first break to its last mend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from brownout.run.contract import early_end
from brownout.run.events import Event

__all__ = ["Episode", "Milestone", "early_ends", "episodes", "has_landed", "is_by_others"]
__all__ += ["mended", "milestone"]


@dataclass(frozen=True, slots=True)
class Episode:
    """One fault: its breaks and mends in order, and the milestones that followed.

    Of the milestones, one that was revoked is not among them; that it was, is.
    Changes of the load from `start` on are attributed to the fault: the first request. A
    clean stop hurts before its process is gone, and a dip at the stop belongs to the fault; but
    a managed service may act minutes after it was asked, so there `start` is the first effect.
    Times are measured from `effective`, None where nothing is proven to have happened. Nothing
    from `until` on belongs to it: another fault begins, or the load ends. `uncertainty` is how
    many seconds later a break by others may have taken effect.
    """

    name: str
    events: tuple[Event, ...]
    milestones: tuple[Event, ...]
    requested: float
    effective: float | None
    start: float
    until: float
    uncertainty: float = 0.0


@dataclass(frozen=True, slots=True)
class Milestone:
    """Between which two looks at the cluster it was reached, in seconds since the schedule's start.

    `first_yes` is None where it was never reached.
    """

    last_no: float | None
    first_yes: float | None


def episodes(events: Sequence[Event], end: float, managed: bool = False) -> list[Episode]:
    """Group a run's events into episodes; `end` is when the load ended.

    A break after redundancy was back begins another episode; one before belongs to the same, as
    does one after redundancy was lost again.
    """
    groups: list[list[Event]] = []
    over = True
    for event in events:
        if event.requested is None or event.refused:
            continue
        if event.type == "break" and over:
            groups.append([])
            over = False
        if not groups or event.type not in ("break", "mend", "milestone"):
            continue
        if event.is_revoked and event.requested > end:
            continue  # what is put back after the load tells nothing of the fault
        if event.is_revoked:
            groups[-1] = [e for e in groups[-1] if not _is_reached(e, event.name)]
        groups[-1].append(event)
        if event.type == "milestone" and event.name == "redundant":
            over = not event.is_revoked and (over or _is_reached(event, "redundant"))
    grouped = [_episode(group, end, managed) for group in groups]
    nexts = [*(episode.requested for episode in grouped[1:]), end]
    # Without an episode `end` is left over.
    return [replace(e, until=min(end, n)) for e, n in zip(grouped, nexts, strict=False)]


def has_landed(event: Event) -> bool:
    """Say whether there is proof that a break or a mend had an effect that was not there before."""
    is_proven = event.effective is not None and event.error is None
    return is_proven and not event.evidence.get("skipped") and not event.evidence.get("already")


def is_by_others(event: Event) -> bool:
    """Say whether a break or a mend was a step of another provider, or was only marked."""
    return bool(event.arguments.get("by"))


def _took_effect(event: Event) -> float | None:
    """Return from when on the effect of a break is counted.

    The effect of one by others lies anywhere in its step, so it is counted from where that began.
    """
    if event.effective is None or not is_by_others(event):
        return event.effective
    return event.effective - (event.uncertainty or 0.0)


def mended(episode: Episode) -> float:
    """Return when the first mend took effect that belongs to the fault; infinite without one.

    A break that ended before its undo counts as undone at that end.
    """
    effects = [e.effective for e in episode.events if e.type == "mend" and has_landed(e)]
    effects += early_ends(episode)
    return min((t for t in effects if t is not None and t < episode.until), default=math.inf)


def early_ends(episode: Episode) -> list[float]:
    """Return when each break of the fault ended that did before its undo: at the earliest."""
    breaks = [e for e in episode.events if e.type == "break" and e.effective is not None]
    lasted = [(event.effective or 0.0, early_end(event.evidence)) for event in breaks]
    return [effective + ends[0] for effective, ends in lasted if ends is not None]


def _is_reached(event: Event, name: str) -> bool:
    is_it = event.type == "milestone" and event.name == name
    return is_it and event.fields.get("first_yes") is not None


def milestone(episode: Episode, name: str) -> Milestone | None:
    """Return when milestone `name` was reached, at last; None if it was not looked for.

    Redundancy includes that every node rejoined, so that it bounds a rejoining not seen again.
    """
    latest = _latest(episode, name)
    if name != "rejoined" or latest is None or latest.first_yes is not None:
        return latest
    redundant = _latest(episode, "redundant")
    if redundant is None or redundant.first_yes is None:
        return latest
    if latest.last_no is not None and latest.last_no > redundant.first_yes:
        return latest
    return replace(latest, first_yes=redundant.first_yes)


def _latest(episode: Episode, name: str) -> Milestone | None:
    events = [event for event in episode.milestones if event.name == name]
    if not events:
        return None
    reached = [event for event in events if event.fields.get("first_yes") is not None]
    last = (reached or events)[-1]
    return Milestone(last.fields.get("last_no"), last.fields.get("first_yes"))


def _episode(group: list[Event], end: float, managed: bool) -> Episode:
    breaks = [event for event in group if event.type == "break"]
    requested = [event.requested for event in breaks if event.requested is not None]
    effects = [_took_effect(event) for event in breaks if has_landed(event)]
    effective = min((t for t in effects if t is not None), default=None)
    first = next((e for e in breaks if has_landed(e) and _took_effect(e) == effective), breaks[0])
    return Episode(
        name=breaks[0].name,
        events=tuple(event for event in group if event.type != "milestone"),
        milestones=tuple(event for event in group if event.type == "milestone"),
        requested=min(requested),
        effective=effective,
        start=effective if managed and effective is not None else min(requested),
        until=end,
        uncertainty=first.uncertainty or 0.0 if is_by_others(first) else 0.0,
    )
