"""From the data of a run to its impact: the baseline, and every measure of every fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brownout.impact.baseline import Baseline, check
from brownout.impact.blackout import blackouts_by_lane
from brownout.impact.course import Course, course_of
from brownout.impact.data import RunData
from brownout.impact.dips import find_dips
from brownout.impact.drops import Drops, drops_of
from brownout.impact.episodes import Episode, episodes, milestone
from brownout.impact.latency import Latency, latency_of
from brownout.impact.level import Level, level_of
from brownout.impact.losses import Losses, losses_of
from brownout.impact.milestones import Milestones, milestones_of
from brownout.impact.rebalance import Rebalance, Span, rebalance_of
from brownout.impact.recovery import recovered_at
from brownout.impact.sham import Sham, shams_of
from brownout.impact.signal import Signal, signal_of
from brownout.impact.view import view_of

__all__ = ["Fault", "Impact", "ScopeImpact", "assess"]


@dataclass(frozen=True, slots=True)
class ScopeImpact:
    """Every measure of one episode in one scope, by family."""

    drops: Drops
    course: Course
    losses: Losses
    latency: Latency
    milestones: Milestones


@dataclass(frozen=True, slots=True)
class Fault:
    """One episode and what it did: `scopes` has total, read, write and each stream.

    Where nothing is proven to have happened there are no measures, and `end` is None.
    """

    episode: Episode
    end: float | None
    scopes: Mapping[str, ScopeImpact]
    blackout_by_lane: Mapping[str, float]
    rebalance: Rebalance = field(default_factory=Rebalance)


@dataclass(frozen=True, slots=True)
class Impact:
    """What the faults of one run did to its load, and what was seen where there was none."""

    baseline: Baseline
    faults: tuple[Fault, ...]
    shams: tuple[Sham, ...] = ()


def assess(data: RunData) -> Impact:
    """Measure a run. The same data gives the same impact; nothing is read or written."""
    found = episodes(data.events, data.end, data.managed)
    base = check(data.series, baseline_end(data, found), data.settings)
    signals = {scope: signal_of(data.series, scope) for scope in data.series.scopes}
    levels = {
        scope: level_of(signal, base.level.start, base.level.end, data.settings)
        for scope, signal in signals.items()
    }
    faults = tuple(_fault(data, episode, signals, levels) for episode in found)
    return Impact(base, faults, shams_of(data, signals["total"]))


def baseline_end(data: RunData, found: list[Episode]) -> float:
    """Return where the baseline ends: 1 s before the first fault begins, or with the load."""
    return found[0].start - data.settings.baseline_gap_s if found else data.end


def _fault(
    data: RunData,
    episode: Episode,
    signals: Mapping[str, Signal],
    levels: Mapping[str, Level],
) -> Fault:
    if episode.effective is None:
        return Fault(episode, None, {}, {})
    effective = episode.effective
    end = _episode_end(data, episode, effective, signals["total"], levels["total"])
    scopes = {}
    for scope, signal in signals.items():
        view = view_of(signal, levels[scope], episode, effective, end, data.settings)
        scopes[scope] = ScopeImpact(
            drops=drops_of(view, data.end),
            course=course_of(view),
            losses=losses_of(view, data),
            latency=latency_of(view, data),
            milestones=milestones_of(episode, effective),
        )
    before = (levels["total"].start, levels["total"].end)
    lanes = blackouts_by_lane(data.lanes, before, (episode.start, end), data.settings)
    total, level = signals["total"], levels["total"]
    redundant = milestone(episode, "redundant")
    span = Span(effective, redundant.first_yes if redundant else None, end, episode.until)
    moved = rebalance_of(data.balance, total, level, span, data.settings)
    return Fault(episode, end, scopes, lanes, moved)


def _episode_end(
    data: RunData, episode: Episode, effective: float, signal: Signal, level: Level
) -> float:
    """Return when redundancy was back and the load had held, or the end of what is known.

    Where nobody looked for redundancy, nothing says that the fault is over before the load is.
    """
    settings, until = data.settings, min(episode.until, signal.end)
    redundant = milestone(episode, "redundant")
    if redundant is None or redundant.first_yes is None:
        return until
    since = max(effective, redundant.first_yes - settings.hold_s)
    dips = find_dips(signal, level, settings)
    held_from = recovered_at(signal, dips, level, since, until, settings)
    return until if held_from is None else held_from + settings.hold_s
