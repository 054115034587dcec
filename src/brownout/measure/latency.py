"""Response times of one scope by phase. Histograms are added, percentiles never averaged.

They are known by whole seconds. One that contains the fault's beginning or its end is of the fault,
so that nothing that may come from it is left out or taken for what was before or after.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from brownout.measure.data import RunData, TimeAbove
from brownout.measure.lateness import fastest_between, fastest_seconds
from brownout.measure.signal import Counts, Signal
from brownout.measure.view import View
from brownout.run.latency import Histogram
from brownout.run.table import BUCKETS_PER_S, in_scope

__all__ = ["Latency", "Phase", "latency_of", "phase_seconds"]

#: Times of buckets are not exact in floating point.
_EXACT = 1e-6
_RATIOS = {"p50_us": 0.50, "p99_us": 0.99, "p999_us": 0.999, "max_us": 1.0}


@dataclass(frozen=True, slots=True)
class Phase:
    """Percentiles of one phase, in µs, and how many operations they are of.

    `ok` is of those that were ok; there None means that there were none. `all` is of all, and one
    that was not ok counts as longer than its deadline; there None means just that, as long as
    there were any.
    """

    n: int
    not_ok: int
    ok: dict[str, int | None]
    all: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Latency:
    """Response times before, during and after; `time_above` is in how many seconds of the episode
    each wanted percentile was above its limit, what was not ok counting as above."""

    phases: dict[str, Phase]
    time_above: dict[str, float]


def latency_of(view: View, data: RunData) -> Latency:
    """Return the response times of one scope: in the baseline, in the episode, after it."""
    before = (view.level.start, view.level.end)
    windows = phase_seconds(before, view.start, view.end, view.until, view.signal.end)
    return Latency(
        phases={name: _phase(view.signal, data, *window) for name, window in windows.items()},
        time_above=_seconds_above(view, data, *windows["during"]),
    )


def phase_seconds(
    before: tuple[float, float], start: float, end: float, until: float, load_end: float
) -> dict[str, tuple[int, int]]:
    """Return the whole seconds of each phase, as [first, end), each second in one phase at most.

    The fault has every second that it overlaps from `start` to `end`. Another one that begins at
    `until` has the second of its beginning. Of the load nothing is known after `load_end`.
    """
    begun = _second_of(start)
    last = _seconds_until(load_end) if until >= load_end - _EXACT else _second_of(until)
    over = max(begun, min(_seconds_until(min(end, load_end)), last))
    baseline = min(_nearest(before[0]), begun), min(_nearest(before[1]), begun)
    return {"before": baseline, "during": (begun, over), "after": (over, max(over, last))}


def _phase(signal: Signal, data: RunData, first: int, last: int) -> Phase:
    tags = _tags(data, signal.scope)
    if signal.case == "best":
        histogram = fastest_between(data, tags, first, last)
    else:
        histogram = data.latency.between(tags, first, last)
    here = slice(first * BUCKETS_PER_S, last * BUCKETS_PER_S)
    not_ok = int(_not_ok(signal)[here].sum())
    unsent = 0 if signal.unsent is None else int(signal.unsent[here].sum())
    quick, lost = (unsent, 0) if signal.case == "best" else (0, unsent)
    of_ok = {name: _percentile(histogram, ratio, lost, quick) for name, ratio in _RATIOS.items()}
    if histogram and lost:  # what was served after all took no longer than it may
        longest = _deadline_us(data, signal.scope)
        of_ok = {name: longest if value is None else value for name, value in of_ok.items()}
    return Phase(
        n=histogram.n if histogram else 0,
        not_ok=not_ok,
        ok=of_ok,
        all={n: _percentile(histogram, ratio, not_ok, quick) for n, ratio in _RATIOS.items()},
    )


def _deadline_us(data: RunData, scope: str) -> int:
    """Return the longest deadline of a scope's streams."""
    names = {stream for stream, op in data.series.keys if in_scope(scope, (stream, op))}
    return round(1e6 * max((s.deadline_s for s in data.streams if s.name in names), default=0.0))


def _seconds_above(view: View, data: RunData, first: int, last: int) -> dict[str, float]:
    """Return in how many seconds of the episode each wanted percentile was above its limit."""
    if not data.time_above:
        return {}
    signal = view.signal
    tags = _tags(data, signal.scope)
    if signal.case == "best":
        histograms = fastest_seconds(data, tags, first, last)
    else:
        histograms = data.latency.seconds(tags, first, last)
    not_ok = _not_ok(signal)
    quick = signal.unsent if signal.case == "best" and signal.unsent is not None else not_ok * 0
    counts = dict.fromkeys((each.name for each in data.time_above), 0.0)
    for second in range(first, last):
        here = slice(second * BUCKETS_PER_S, (second + 1) * BUCKETS_PER_S)
        bad, good = int(not_ok[here].sum()), int(quick[here].sum())
        for each in data.time_above:
            counts[each.name] += _is_above(histograms.get(second), bad, good, each)
    return counts


def _is_above(histogram: Histogram | None, bad: int, good: int, wanted: TimeAbove) -> bool:
    if histogram is None:
        return bad > 0 and max(1, np.ceil(wanted.ratio * (bad + good) - 1e-9)) > good
    value = histogram.percentile_us(wanted.ratio, beyond=bad, below=good)
    return value is None or value > wanted.limit_us


def _percentile(histogram: Histogram | None, ratio: float, beyond: int, below: int) -> int | None:
    return None if histogram is None else histogram.percentile_us(ratio, beyond, below)


def _tags(data: RunData, scope: str) -> Sequence[str]:
    keys = data.series.keys
    return [f"{stream}/{op}" for stream, op in keys if in_scope(scope, (stream, op))]


def _not_ok(signal: Signal) -> Counts:
    return signal.errors + signal.missed


def _second_of(t: float) -> int:
    """Return the whole second that contains `t`."""
    return max(0, math.floor(t + _EXACT))


def _seconds_until(t: float) -> int:
    """Return how many whole seconds begin before `t`."""
    return max(0, math.ceil(t - _EXACT))


def _nearest(t: float) -> int:
    """Return the first whole second whose interval has its middle at or after `t`."""
    return max(0, math.ceil(t - 0.5 - _EXACT))
