"""The level a load is measured against, and what noise alone can do to it.

`T(t)` is ok per second as the mean of the last second, `B` the median of T over the baseline,
sigma = 1.4826 MAD of T, and theta = max(5 %, 3 sigma/B).
"""

from dataclasses import dataclass

import numpy as np

from brownout.measure.bootstrap import Interval, interval
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Floats, Signal, bucket_range, sum_of, trailing_rate
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Level", "baseline_rates", "drop", "level_interval", "level_of", "ok_between"]

#: Makes the median absolute deviation of normal noise its standard deviation.
_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class Level:
    """What one scope did in the baseline from `start` to `end`: `tps` is B, in ok per second.

    `theta` is the noise of T relative to B, `theta_bucket` that of single buckets, `deepest` the
    lowest T of the baseline as 1 - T/B. `error_ratio` is errors ÷ offered. `detectable` is the
    smallest `tps_drop` outside the noise: `detectable_sigmas` sigma/B, and no less than
    `deepest` or one operation a second; 1 where nothing is known. `offered` is how many operations
    a second were to start. `lowest` is the lowest T of the baseline.
    """

    start: float
    end: float
    tps: float
    sigma: float
    theta: float
    theta_bucket: float
    deepest: float
    error_ratio: float
    detectable: float = 1.0
    offered: float = 0.0
    lowest: float = 0.0

    @property
    def theta_dip(self) -> float:
        """How far below B a dip is distinct from noise where only throughput is known."""
        return max(self.theta, self.deepest)


def level_of(signal: Signal, start: float, end: float, settings: MeasureSettings) -> Level:
    """Return the level of a scope over the baseline from `start` to `end` seconds."""
    rates, here = baseline_rates(signal.ok, start, end), bucket_range(start, end, len(signal.ok))
    tps = float(np.median(rates)) if len(rates) else 0.0
    sigma = _spread(rates)
    buckets = signal.ok[here].astype(np.float64) * BUCKETS_PER_S
    offered = sum_of(signal.offered[here])
    deepest = settings.theta_deepest * drop(tps, float(rates.min())) if len(rates) else 0.0
    by_noise = max(settings.detectable_sigmas * sigma, 1.0) / tps if tps else 1.0
    return Level(
        start=start,
        end=end,
        tps=tps,
        sigma=sigma,
        theta=max(settings.theta_min, 3 * sigma / tps) if tps else 1.0,
        theta_bucket=max(settings.theta_min, 3 * _spread(buckets) / tps) if tps else 1.0,
        deepest=deepest,
        error_ratio=sum_of(signal.errors[here]) / offered if offered else 0.0,
        detectable=min(1.0, max(by_noise, deepest)),
        offered=offered * BUCKETS_PER_S / max(1, here.stop - here.start),
        lowest=float(rates.min()) if len(rates) else 0.0,
    )


def drop(before: float, lowest: float) -> float:
    """Return max(0, 1 - lowest/before): 36,000 → 7,192 is 0.800."""
    return max(0.0, 1.0 - lowest / before) if before > 0 else 0.0


def level_interval(signal: Signal, level: Level, settings: MeasureSettings) -> Interval | None:
    """Return the 95 % interval of B, or None where the baseline has too few blocks."""
    rates = baseline_rates(signal.ok, level.start, level.end)
    return interval(rates, settings)


def ok_between(ok: Counts, start: float, end: float) -> float:
    """Return how many ok there were from `start` to `end`; parts of buckets count in part."""
    sums = np.concatenate(([0], np.cumsum(ok)))
    at = np.clip([start * BUCKETS_PER_S, end * BUCKETS_PER_S], 0, len(ok))
    first, last = np.interp(at, np.arange(len(sums)), sums)
    return float(last - first)


def baseline_rates(ok: Counts, start: float, end: float) -> Floats:
    """Return T at the end of each bucket of a baseline."""
    rates = trailing_rate(ok)[bucket_range(start, end, len(ok))]
    return rates[~np.isnan(rates)]


def _spread(values: Floats) -> float:
    if not len(values):
        return 0.0
    return float(_MAD_TO_SIGMA * np.median(np.abs(values - np.median(values))))
