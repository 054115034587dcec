"""How far throughput fell below its level, and what noise makes of the same statistic."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from brownout.measure.bootstrap import Interval, medians
from brownout.measure.level import Level, baseline_rates, drop, ok_between
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Floats, Signal, bucket_range, trailing_rate
from brownout.measure.view import View
from brownout.run.table import BUCKETS_PER_S, WIDTH_S

__all__ = [
    "Drops",
    "decay",
    "decay_bounds",
    "decay_of",
    "drops_of",
    "mean_drop",
    "mean_drop_bounds",
    "tps_drop",
    "tps_drop_sham",
]


@dataclass(frozen=True, slots=True)
class Drops:
    """Ratios. `theta` is what noise can do to T; a limit below it could not be judged.

    `tps_drop` is 1 - min T/B, `tps_drop_100ms` the same of single buckets and
    `tps_drop_at_resolution` of the resolution that was asked for. `tps_drop_sham` is what the
    statistic makes of `tps_drop_sham_window_s` fault-free seconds.
    """

    theta: float
    tps_drop: float | None
    tps_drop_interval: Interval | None
    tps_drop_sham: float | None
    tps_drop_sham_window_s: float
    tps_drop_100ms: float | None
    tps_drop_at_resolution: float | None
    mean_drop: float | None
    decay: float | None

    def without_throughput(self) -> Self:
        """Return these without what is measured against B: it was not steady enough."""
        return replace(
            self,
            tps_drop=None,
            tps_drop_interval=None,
            tps_drop_sham=None,
            tps_drop_100ms=None,
            tps_drop_at_resolution=None,
            mean_drop=None,
        )


def drops_of(view: View, run_end: float) -> Drops:
    """Return every measure of depth; `decay` looks at the whole run up to `run_end`."""
    signal, level, settings = view.signal, view.level, view.settings
    resolution = settings.resolution_s
    length = min(view.end - view.start, level.end - level.start)
    return Drops(
        theta=level.theta,
        tps_drop=tps_drop(signal, level, view.start, view.end),
        tps_drop_interval=tps_drop_interval(signal, level, view.start, view.end, settings),
        tps_drop_sham=tps_drop_sham(signal, level, length),
        tps_drop_sham_window_s=length,
        tps_drop_100ms=tps_drop_at(signal, level, view.start, view.end, WIDTH_S),
        tps_drop_at_resolution=tps_drop_at(signal, level, view.start, view.end, resolution)
        if resolution
        else None,
        mean_drop=mean_drop(view),
        decay=decay(signal.ok, run_end),
    )


def tps_drop(signal: Signal, level: Level, start: float, end: float) -> float | None:
    """Return how deep T fell from `start` to `end`, against B; None where nothing is known."""
    lowest = _lowest(trailing_rate(signal.ok), start, end)
    return None if lowest is None or not level.tps else drop(level.tps, lowest)


def tps_drop_at(
    signal: Signal, level: Level, start: float, end: float, resolution_s: float
) -> float | None:
    """Return the drop as a graph with a point each `resolution_s` seconds shows it.

    The points are means of consecutive windows from the schedule's start on.
    """
    width = max(1, round(resolution_s * BUCKETS_PER_S))
    whole = len(signal.ok) // width
    means = signal.ok[: whole * width].reshape(whole, width).sum(axis=1) * BUCKETS_PER_S / width
    first = int(np.floor(start * BUCKETS_PER_S + 1e-6)) // width
    last = -(-int(np.ceil(end * BUCKETS_PER_S - 1e-6)) // width)
    chosen = means[first:last]
    return drop(level.tps, float(chosen.min())) if len(chosen) and level.tps else None


def tps_drop_sham(signal: Signal, level: Level, length_s: float) -> float | None:
    """Return what `tps_drop` makes of noise: the drop in the last fault-free `length_s` seconds.

    The window ends with the baseline and is as long as the episode, or as long as the baseline
    where that is shorter.
    """
    return tps_drop(signal, level, level.end - length_s, level.end)


def tps_drop_interval(
    signal: Signal, level: Level, start: float, end: float, settings: MeasureSettings
) -> Interval | None:
    """Return the 95 % interval of `tps_drop` by the noise of the baseline, or None.

    Each resample of the baseline's blocks gives another B and another error of the lowest T. The
    fault itself happened once; how another one would turn out is for replicates to say.
    """
    lowest = _lowest(trailing_rate(signal.ok), start, end)
    resampled = medians(baseline_rates(signal.ok, level.start, level.end), settings)
    if lowest is None or resampled is None or not level.tps:
        return None
    base, noise = resampled[0], resampled[1] / level.tps
    usable = base > 0
    drops = np.maximum(0.0, 1.0 - lowest * noise[usable] / base[usable])
    low, high = np.percentile(drops, [2.5, 97.5])
    return float(low), float(high)


def mean_drop(view: View) -> float | None:
    """Return 1 - (mean throughput over the dips)/B; 0 without a dip.

    The mean is taken over the dips' own buckets: T would drag a second from before into each.
    """
    if not view.level.tps:
        return None
    ok = sum(ok_between(view.signal.ok, dip.start, dip.end) for dip in view.dips)
    length = sum(dip.length for dip in view.dips)
    return drop(view.level.tps, ok / length) if length else 0.0


def mean_drop_bounds(best: View, worst: View) -> tuple[float, float] | None:
    """Return between what the mean drop lies, however what was missed would have ended.

    The dips hold all buckets of the best case's and none but those of the worst's; which of the
    others are in them decides the mean as well as how deep each is.
    """
    if not best.level.tps:
        return None
    sure, maybe = _dip_buckets(best), _dip_buckets(worst)
    maybe &= ~sure
    if not (sure.any() or maybe.any()):
        return 0.0, 0.0

    def depth(view: View, extreme: int) -> float:
        drops = 1.0 - view.signal.ok * BUCKETS_PER_S / view.level.tps
        others = np.sort(drops[maybe])[::extreme]
        sums = drops[sure].sum() + np.concatenate(([0.0], np.cumsum(others)))
        counts = sure.sum() + np.arange(len(others) + 1)
        means = sums[counts > 0] / counts[counts > 0]
        bound = float(means.max() if extreme < 0 else means.min())
        return max(0.0, bound)

    return (depth(best, 1) if sure.any() else 0.0), depth(worst, -1)


def _dip_buckets(view: View) -> npt.NDArray[np.bool_]:
    inside = np.zeros(len(view.signal.ok), np.bool_)
    for dip in view.dips:
        inside[bucket_range(dip.start, dip.end, len(inside))] = True
    return inside


def decay(ok: Counts, end: float) -> float | None:
    """Return (max - last)/mean of the one-minute means up to `end`; None below two minutes."""
    means = _minutes(ok, end)
    if means is None or not means.any():
        return None
    return decay_of(float(means.max()), float(means[-1]), float(means.mean()))


def decay_bounds(maximum: Counts, minimum: Counts, end: float) -> tuple[float, float] | None:
    """Return between what the decay lies where each bucket had from `minimum` to `maximum` ok."""
    high, low = _minutes(maximum, end), _minutes(minimum, end)
    if high is None or low is None or not low.any():
        return None
    smallest = decay_of(float(low.max()), float(high[-1]), float(high.mean()))
    return max(0.0, smallest), decay_of(float(high.max()), float(low[-1]), float(low.mean()))


def _minutes(ok: Counts, end: float) -> Floats | None:
    minute = 60 * BUCKETS_PER_S
    whole = min(len(ok), int(end * BUCKETS_PER_S + 1e-6)) // minute
    if whole < 2:
        return None
    return np.asarray(ok[: whole * minute].reshape(whole, minute).sum(axis=1) / 60)


def decay_of(highest: float, last: float, mean: float) -> float:
    """Return (highest - last)/mean: 332, 316 and 321 give 0.050."""
    return (highest - last) / mean


def _lowest(rates: Floats, start: float, end: float) -> float | None:
    """Return the lowest T at a bucket's end after `start` and up to `end`."""
    here = rates[bucket_range(start, end, len(rates))]
    here = here[~np.isnan(here)]
    return float(here.min()) if len(here) else None
