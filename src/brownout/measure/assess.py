"""From the data of a run to its impact: the baseline, and every measure of every fault."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from brownout.measure.baseline import Baseline, BaselineFigures, check
from brownout.measure.course import course_of
from brownout.measure.data import RunData, Seen
from brownout.measure.dips import find_dips
from brownout.measure.drops import decay_bounds, drops_of, mean_drop_bounds
from brownout.measure.episodes import Episode, episodes, milestone
from brownout.measure.failover import client_recovered_in, successions
from brownout.measure.impact import Act, Fault, Milestone, ScopeImpact
from brownout.measure.lanes import blackouts_by_lane, worst_partial_outage
from brownout.measure.latency import latency_of
from brownout.measure.lateness import late_seconds
from brownout.measure.level import Level, level_interval, level_of
from brownout.measure.losses import losses_of
from brownout.measure.measures import added
from brownout.measure.milestones import milestones_of
from brownout.measure.ranges import lower_bounds_of, ranges_of
from brownout.measure.rebalance import Span, rebalance_of
from brownout.measure.recovery import held_from
from brownout.measure.sham import Sham, shams_of
from brownout.measure.signal import Case, Signal, signal_of
from brownout.measure.view import View, view_of
from brownout.run.events import Event
from brownout.run.lanes import LaneKey

__all__ = ["Findings", "assess"]

logger = logging.getLogger("chaostoolkit")


@dataclass(frozen=True, slots=True)
class Findings:
    """What the faults of one run did to its load, and what was seen where there was none."""

    baseline: Baseline
    figures: BaselineFigures
    faults: tuple[Fault, ...]
    shams: tuple[Sham, ...] = ()


#: Times that count from the effect of a fault. What its members show of one by others is exact
#: enough; only a step's own length is not.
_SINCE_EFFECT = ("recovery_time", "settled_time", "rejoin_time", "redundancy_time",
                 "promoted_time", "client_recovered_time")  # fmt: skip
_CERTAIN_S = 1.0
_CASES: tuple[Case, ...] = ("best", "measured", "worst")
#: The same load as each case takes what the generator missed, scope by scope.
Signals = Mapping[str, Signal]


def assess(data: RunData) -> Findings:
    """Measure a run. The same data gives the same findings; nothing is read or written."""
    fault_episodes = episodes(data.events, data.end, data.managed)
    base = check(data.series, baseline_end(data, fault_episodes), data.settings)
    cases: dict[Case, Signals] = {"measured": _signals(data, "measured")}
    if data.series.outcomes.total("total", "missed").any() or late_seconds(data):
        cases |= {"best": _signals(data, "best"), "worst": _signals(data, "worst")}
    levels = {
        scope: level_of(signal, base.level.start, base.level.end, data.settings)
        for scope, signal in cases["measured"].items()
    }
    faults = tuple(_fault(data, episode, cases, levels, base) for episode in fault_episodes)
    total = cases["measured"]["total"]
    figures = base.figures(level_interval(total, base.level, data.settings))
    return Findings(base, figures, faults, shams_of(data, total))


def baseline_end(data: RunData, fault_episodes: list[Episode]) -> float:
    """Return where the baseline ends: 1 s before the first fault begins, or with the load."""
    return fault_episodes[0].start - data.settings.baseline_gap_s if fault_episodes else data.end


def _signals(data: RunData, case: Case) -> Signals:
    series = data.series
    scopes = [*series.scopes, *(p for s in series.scopes for p in series.parts(s).values())]
    return {s: signal_of(series, s, case, data.deadline_s) for s in dict.fromkeys(scopes)}


def _fault(
    data: RunData,
    episode: Episode,
    cases: Mapping[Case, Signals],
    levels: Mapping[str, Level],
    base: Baseline,
) -> Fault:
    """Measure one fault in every case, over the same time: as long as the worst has it last."""
    fault = Fault(
        name=episode.name,
        events=tuple(map(_act, episode.events)),
        milestones=tuple(map(_milestone, episode.milestones)),
        requested=episode.requested,
        effective=episode.effective,
        start=episode.start,
        end=None,
        until=episode.until,
    )
    if episode.effective is None:
        return fault
    last = cases.get("worst", cases["measured"])
    end = _episode_end(data, episode, episode.effective, last["total"], levels["total"])
    views = {
        case: {
            scope: view_of(
                signals[scope],
                levels[scope],
                episode,
                episode.effective,
                end,
                data.settings,
                {op: (signals[p], levels[p]) for op, p in data.series.parts(scope).items()},
            )
            for scope in data.series.scopes
        }
        for case, signals in cases.items()
    }
    by_case = {c: _measured(replace(fault, end=end), data, episode, views[c], base) for c in cases}
    total = views["measured"]["total"]
    before = (total.level.start, total.level.end)
    lanes = blackouts_by_lane(
        data.lanes,
        before,
        (episode.start, end),
        data.settings,
        open_loop=total.signal.open_loop,
    )
    ranges = {}
    for scope in views["measured"]:
        seen = [
            (
                by_case[case],
                lower_bounds_of(by_case[case].scopes[scope].course, views[case][scope], episode),
            )
            for case in _CASES
            if case in by_case
        ]
        bounds: dict[str, tuple[float, float]] = {}
        if "worst" in by_case:
            bounds = _bounds(views["best"][scope], views["worst"][scope], data.end, base)
        bounds |= _since_effect(by_case["measured"], scope, episode)
        ranges[scope] = ranges_of(seen, scope, bounds)
    scopes = {
        name: replace(scope, ranges=ranges[name])
        for name, scope in by_case["measured"].scopes.items()
    }
    worst_lane = worst_partial_outage(total, data)
    return replace(
        by_case["measured"],
        scopes=scopes,
        longest_blackout_by_lane={str(key): length for key, length in lanes.items()},
        partial_outage_in=_where(worst_lane[0]) if worst_lane and worst_lane[1] else {},
        client_recovered_in=_where(client_recovered_in(total, data)),
        successions=successions(total, data),
    )


def _measured(
    fault: Fault, data: RunData, episode: Episode, views: Mapping[str, View], base: Baseline
) -> Fault:
    """Measure one fault in one case. Without a steady throughput nothing is made of it."""
    total = views["total"]
    scopes = {}
    for scope, view in views.items():
        drops = drops_of(view, data.end)
        scopes[scope] = ScopeImpact(
            drops=drops if base.throughput_known else drops.without_throughput(),
            course=course_of(view),
            losses=losses_of(view, data),
            milestones=milestones_of(episode, total.effective),
            latency=latency_of(view, data),
            added=_added(scope, view, data, base.throughput_known),
        )
    redundant = milestone(episode, "redundant")
    reached = redundant.first_yes if redundant else None
    span = Span(total.effective, reached, total.end, episode.until)
    moved = rebalance_of(data.balance, total.signal, total.level, span, data.settings)
    if not base.throughput_known:
        moved = replace(moved, throughput_while_moving=None, capacity_ratio=None)
    return replace(fault, scopes=scopes, rebalance=moved)


def _since_effect(fault: Fault, scope: str, episode: Episode) -> dict[str, tuple[float, float]]:
    """Return the bounds of each time that counts from an effect which may have come later."""
    if episode.uncertainty < _CERTAIN_S:
        return {}
    values = {name: fault.value(name, scope) for name in _SINCE_EFFECT}
    return {
        name: (max(0.0, value - episode.uncertainty), value)
        for name, value in values.items()
        if value is not None and math.isfinite(value)
    }


def _where(key: LaneKey | None) -> dict[str, str]:
    """Return the lane and the operations of an outage, as far as they are known."""
    return {} if key is None else {name: text for name, text in key._asdict().items() if text}


def _act(event: Event) -> Act:
    return Act(
        type=event.type,
        name=event.name,
        node=event.node,
        requested=event.requested,
        effective=event.effective,
        uncertainty=event.uncertainty,
        ended=event.ended,
        evidence=event.evidence,
        error=event.error,
    )


def _milestone(event: Event) -> Milestone:
    return Milestone(
        name=event.name,
        last_no=event.fields.get("last_no"),
        first_yes=event.fields.get("first_yes"),
        limit_s=event.fields.get("limit_s"),
        revoked=event.is_revoked,
        evidence=event.evidence,
    )


def _added(
    scope: str, view: View, data: RunData, throughput_known: bool
) -> dict[str, float | Seen | None]:
    """Return the measures with a function of their own; where that fails, they are not measured."""
    values: dict[str, float | Seen | None] = {}
    for measure in added():
        if measure.of is None or (scope != "total" and not measure.per_scope):
            continue
        value = None
        if throughput_known or not measure.of_throughput:
            try:
                value = _usable(measure.of(view, data))
            except Exception as error:  # whatever it raises, the run is judged by all the rest
                what = f"{type(error).__name__}: {error}"
                logger.warning("%s is not measured: its function failed: %s", measure.name, what)
        values[measure.name] = value
    return values


def _usable(value: float | Seen | None) -> float | Seen | None:
    """Return what a measure's function gave as plain numbers; None for anything else."""
    if isinstance(value, tuple):
        last_no, first_yes = map(_finite, value)
        return None if last_no is None else (last_no, first_yes)
    return _finite(value)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


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

    A dip within `hold_s` after redundancy was back belongs to the fault, however calm it was
    before. If redundancy was not watched for, the fault lasts as long as the load.
    """
    settings, until = data.settings, min(episode.until, signal.end)
    redundant = milestone(episode, "redundant")
    if redundant is None or redundant.first_yes is None:
        return until
    dips = find_dips(signal, level, settings)
    back = max(effective, redundant.first_yes)
    after = held_from(signal, dips, level, back, until, settings)
    if after is None:
        return until
    if after > back:
        return after + settings.hold_s
    # It had held before as well: what was calm before redundancy was back need not be so again.
    since = max(effective, redundant.first_yes - settings.hold_s)
    held = held_from(signal, dips, level, since, until, settings)
    return until if held is None else held + settings.hold_s
