"""Seconds in which the generator itself was late, and response times without its part in them.

What was under way while the generator stood still, or was sent late when it resumed, has the time
that the generator took in its response time. How much that was is not known, but no more than the
generator was late at most in that second or in the one before, in which it may have been sent.
"""

from collections.abc import Sequence

import numpy as np

from brownout.measure.data import RunData
from brownout.run.latency import Histogram

__all__ = ["fastest_between", "fastest_seconds", "late_seconds"]


#: As long as a response time can be.
_LONGEST_MS = 3_600_000


def late_seconds(data: RunData) -> list[int]:
    """Return the seconds in which the generator was late by `lag_p99_max_ms` or more."""
    limit = data.settings.lag_p99_max_ms
    return [second for second, lag in sorted(data.lags_ms.items()) if lag >= limit]


def fastest_between(data: RunData, tags: Sequence[str], first: int, last: int) -> Histogram | None:
    """Return the response times of the seconds from `first` to before `last` as short as they may
    have been."""
    total = data.latency.between(tags, first, last)
    for second, lag_us in _lags_us(data, first, last).items():
        here = data.latency.between(tags, second, second + 1)
        if total is not None and here is not None:
            total.counts[:] += here.sooner(lag_us).counts - here.counts
    return total


def fastest_seconds(
    data: RunData, tags: Sequence[str], first: int, last: int
) -> dict[int, Histogram]:
    """Return the response times of each second likewise, where anything was ok."""
    seconds = data.latency.seconds(tags, first, last)
    lags_us = _lags_us(data, first, last)
    return {
        second: histogram.sooner(lags_us[second]) if second in lags_us else histogram
        for second, histogram in seconds.items()
    }


def _lags_us(data: RunData, first: int, last: int) -> dict[int, int]:
    """Return by how much response times of a second may be too long, in µs, where they may be."""
    lags: dict[int, int] = {}
    for late in late_seconds(data):
        for second in (late, late + 1):
            if first <= second < last:
                lag_us = int(np.ceil(1000 * min(data.lags_ms[late], _LONGEST_MS)))
                lags[second] = max(lags.get(second, 0), lag_us)
    return lags
