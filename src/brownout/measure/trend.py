"""Whether a figure of a long load goes up or down, and how sure that is. Pure.

The slope is Theil's and Sen's: the median of the slopes of all pairs, which single odd values do
not move. Its 95 % interval is Sen's (1968): the pairs' slopes between two ranks that follow from
the variance of Kendall's S, n (n - 1) (2 n + 5) / 18. It takes the values for independent, so
they have to be means of a minute or so, not of a bucket.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["LEAST", "Trend", "trend_of"]

#: With fewer values nothing is said of a trend.
LEAST = 5
#: Of a normal distribution, both sides of 95 %.
_Z = 1.959964
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Trend:
    """How a figure changes: `per_hour` in its own unit, from `low` to `high` with 95 %.

    `relative_per_hour` is that of the median, None where the median is 0. `steady` says that
    no change lies within the interval.
    """

    per_hour: float
    low: float
    high: float
    relative_per_hour: float | None
    n: int

    @property
    def steady(self) -> bool:
        """Whether it may as well not change at all."""
        return self.low <= 0 <= self.high


def trend_of(times: Sequence[float], values: Sequence[float | None]) -> Trend | None:
    """Return the trend of `values` at `times` in seconds; values that are None are left out.

    None with fewer than `LEAST` values: that would be a guess.
    """
    points = [(t, v) for t, v in zip(times, values, strict=True) if v is not None]
    if len(points) < LEAST:
        return None
    t, v = np.array(points).T
    first, second = np.triu_indices(len(v), 1)
    slopes = np.sort((v[second] - v[first]) / (t[second] - t[first])) * _HOUR_S
    low, high = _interval(len(v), len(slopes))
    middle, slope = float(np.median(v)), float(np.median(slopes))
    return Trend(slope, float(slopes[low]), float(slopes[high]),
                 slope / middle if middle else None, len(v))  # fmt: skip


def _interval(n: int, pairs: int) -> tuple[int, int]:
    """Return the places of the interval's ends among the sorted slopes."""
    spread = _Z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = max(0, math.floor((pairs - spread) / 2))
    return low, pairs - 1 - low
