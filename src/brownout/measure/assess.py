"""From the data of a run to its impact: the baseline, and every measure of every fault."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from brownout.measure.baseline import Baseline, check
from brownout.measure.blackout import blackouts_by_lane
from brownout.measure.course import Course, course_of
from brownout.measure.data import RunData
from brownout.measure.dips import find_dips
from brownout.measure.drops import Drops, decay_bounds, drops_of, mean_drop_bounds
from brownout.measure.episodes import Episode, episodes, milestone
from brownout.measure.latency import Latency, latency_of
from brownout.measure.level import Level, level_of
from brownout.measure.losses import Losses, losses_of
from brownout.measure.measures import added
from brownout.measure.milestones import Milestones, milestones_of, not_before
from brownout.measure.rebalance import Rebalance, Span, rebalance_of
from brownout.measure.recovery import recovered_at, recovered_no_sooner
from brownout.measure.sham import Sham, shams_of
from brownout.measure.signal import Case, Signal, signal_of
from brownout.measure.view import View, view_of

__all__ = ["Fault", "Impact", "ScopeImpact", "assess"]

logger = logging.getLogger("chaostoolkit")


@dataclass(frozen=True, slots=True)
class ScopeImpact:
    """Every measure of one episode in one scope, by family.

    `least` is how long what never came took at least, by the name of its measure. `added` holds
    the measures of other packages.
    """

    drops: Drops
    course: Course
    losses: Losses
    latency: Latency
    milestones: Milestones
    least: Mapping[str, float] = field(default_factory=dict)
    added: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """One episode and what it did: `scopes` has total, read, write and each stream.

    Where nothing is proven to have happened there are no measures, and `end` is None. Where the
    generator missed operations, `best` is the same fault with each of them served in time, `worst`
    with each lost, and `bounds` has for each scope what no such case gives, as (least, most).
    """

    episode: Episode
    end: float | None
    scopes: Mapping[str, ScopeImpact]
    blackout_by_lane: Mapping[str, float]
    rebalance: Rebalance = field(default_factory=Rebalance)
    best: "Fault | None" = None
    worst: "Fault | None" = None
    bounds: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Impact:
    """What the faults of one run did to its load, and what was seen where there was none."""

    baseline: Baseline
    faults: tuple[Fault, ...]
    shams: tuple[Sham, ...] = ()


#: The same load as each case takes what the generator missed, scope by scope.
Signals = Mapping[str, Signal]


def assess(data: RunData) -> Impact:
    """Measure a run. The same data gives the same impact; nothing is read or written."""
    found = episodes(data.events, data.end, data.managed)
    base = check(data.series, baseline_end(data, found), data.settings)
    cases: dict[Case, Signals] = {"measured": _signals(data, "measured")}
    if data.series.outcomes.total("total", "missed").any():
        cases |= {"best": _signals(data, "best"), "worst": _signals(data, "worst")}
    levels = {
        scope: level_of(signal, base.level.start, base.level.end, data.settings)
        for scope, signal in cases["measured"].items()
    }
    faults = tuple(_fault(data, episode, cases, levels, base) for episode in found)
    return Impact(base, faults, shams_of(data, cases["measured"]["total"]))


def baseline_end(data: RunData, found: list[Episode]) -> float:
    """Return where the baseline ends: 1 s before the first fault begins, or with the load."""
    return found[0].start - data.settings.baseline_gap_s if found else data.end


def _signals(data: RunData, case: Case) -> Signals:
    deadline_s = max((stream.deadline_s for stream in data.streams), default=1.0)
    return {s: signal_of(data.series, s, case, deadline_s) for s in data.series.scopes}


def _fault(
    data: RunData,
    episode: Episode,
    cases: Mapping[Case, Signals],
    levels: Mapping[str, Level],
    base: Baseline,
) -> Fault:
    """Measure one fault in every case, over the same time: as long as the worst has it last."""
    if episode.effective is None:
        return Fault(episode, None, {}, {})
    last = cases.get("worst", cases["measured"])
    end = _episode_end(data, episode, episode.effective, last["total"], levels["total"])
    views = {
        case: {
            scope: view_of(signal, levels[scope], episode, episode.effective, end, data.settings)
            for scope, signal in signals.items()
        }
        for case, signals in cases.items()
    }
    made = {case: _measured(data, episode, views[case], base) for case in cases}
    fault = made["measured"]
    if "worst" not in made:
        return fault
    bounds = {
        scope: _bounds(views["best"][scope], views["worst"][scope], data.end, base)
        for scope in fault.scopes
    }
    return replace(fault, best=made["best"], worst=made["worst"], bounds=bounds)


def _measured(data: RunData, episode: Episode, views: Mapping[str, View], base: Baseline) -> Fault:
    """Measure one fault in one case. Without a steady throughput nothing is made of it."""
    total = views["total"]
    effective, end, settings = total.effective, total.end, data.settings
    scopes = {}
    for scope, view in views.items():
        drops, course = drops_of(view, data.end), course_of(view)
        scopes[scope] = ScopeImpact(
            drops=drops if base.throughput_known else drops.without_throughput(),
            course=course,
            losses=losses_of(view, data),
            latency=latency_of(view, data),
            milestones=milestones_of(episode, effective),
            least=_least(view, course) | (not_before(episode, effective)),
            added=_added(scope, view, data, base.throughput_known),
        )
    before = (total.level.start, total.level.end)
    lanes = blackouts_by_lane(data.lanes, before, (episode.start, end), settings)
    redundant = milestone(episode, "redundant")
    span = Span(effective, redundant.first_yes if redundant else None, end, episode.until)
    moved = rebalance_of(data.balance, total.signal, total.level, span, settings)
    if not base.throughput_known:
        moved = replace(moved, throughput_while_moving=None, capacity_ratio=None)
    return Fault(episode, end, scopes, lanes, moved)


def _added(
    scope: str, view: View, data: RunData, throughput_known: bool
) -> dict[str, float | None]:
    """Return the measures of other packages; one whose function fails is not measured."""
    found: dict[str, float | None] = {}
    for measure in added():
        if measure.of is None or (scope != "total" and not measure.per_scope):
            continue
        value = None
        if throughput_known or not measure.of_throughput:
            try:
                value = measure.of(view, data)
                value = None if value is None or not math.isfinite(value) else float(value)
            except Exception as error:  # whatever it raises, the run is judged by all the rest
                what = f"{type(error).__name__}: {error}"
                logger.warning("%s is not measured: its function failed: %s", measure.name, what)
        found[measure.name] = value
    return found


def _least(view: View, course: Course) -> dict[str, float]:
    """Return how long recovery and the last dip took at least, where neither end was seen."""
    least = {}
    if course.recovery_time is None:
        least["recovery_time"] = (
            recovered_no_sooner(
                view.signal, view.all_dips, view.level, view.effective, view.until, view.settings
            )
            - view.effective
        )
    if course.settled_time is None:
        least["settled_time"] = max(0.0, view.until - view.effective)
    return least


def _bounds(best: View, worst: View, end: float, base: Baseline) -> dict[str, tuple[float, float]]:
    """Return the bounds of what neither case alone gives: a mean over dips, a highest minute."""
    bounds = {}
    if base.throughput_known and (depth := mean_drop_bounds(best, worst)):
        bounds["mean_drop"] = depth
    if decayed := decay_bounds(best.signal.ok, worst.signal.ok, end):
        bounds["decay"] = decayed
    return bounds


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
