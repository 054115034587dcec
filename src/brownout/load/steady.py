"""Whether a load has reached a steady state: its level does not drift any more. Pure.

Stores that defragment are fast while they are new. After enough updates throughput and response
time settle at what will last, and only then is a measurement one of the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from brownout.measure.baseline import theil_sen

__all__ = ["Steadiness", "Window", "steadiness"]

#: So many windows are looked at, the latest.
WINDOWS = 8


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a load: ok a second, and the p99 of their response times in µs."""

    tps: float
    p99_us: float | None


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Whether it is steady, and why not, in words."""

    steady: bool
    why: str = ""


def steadiness(windows: Sequence[Window], tolerance: float) -> Steadiness:
    """Judge the last `WINDOWS` windows: neither figure drifts by more than `tolerance`.

    The drift is Theil's and Sen's slope over all of them, relative to their median; and the
    medians of both halves may differ by the same share. The p99 may drift twice as much: it is
    noisier. A window in which nothing was ok is not steady, and too few windows are not either.
    """
    last = windows[-WINDOWS:]
    if len(last) < WINDOWS:
        return Steadiness(False, f"{len(last)} of {WINDOWS} windows so far")
    slow = [window.p99_us for window in last]
    if any(window.tps <= 0 or window.p99_us is None for window in last):
        return Steadiness(False, "nothing was served in a window")
    for name, values, allowed in (
        ("throughput", [window.tps for window in last], tolerance),
        ("p99", [value for value in slow if value is not None], 2 * tolerance),
    ):
        drift = _drift(values)
        if drift > allowed:
            return Steadiness(False, f"{name} drifts by {drift:.1%}, wanted {allowed:.1%} at most")
    return Steadiness(True)


def _drift(values: Sequence[float]) -> float:
    middle, half = median(values), len(values) // 2
    slope = abs(theil_sen(np.asarray(values, np.float64))) * (len(values) - 1)
    apart = abs(median(values[half:]) - median(values[:half]))
    return max(slope, apart) / middle
