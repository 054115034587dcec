"""A fault-free window and the baseline before it: made up from a seed, or out of a real run."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Signal
from brownout.run.table import BUCKETS_PER_S

__all__ = ["RATE", "Dip", "Window", "made_up", "out_of", "signal_of_counts"]

Floats = npt.NDArray[np.float64]

#: How alike neighbouring buckets are: the rate wanders, as that of a real database does.
ALIKE = 0.8
RATE = 1000.0


@dataclass(frozen=True, slots=True)
class Dip:
    """What is taken away: `depth` of everything for `seconds` from the window's middle on."""

    depth: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A load without a fault: its baseline from `start` to `middle`, its window until `end`, s."""

    signal: Signal
    start: float
    middle: float
    end: float
    settings: MeasureSettings


def made_up(
    random: np.random.Generator,
    noise: float,
    settings: MeasureSettings,
    *,
    errors: float = 0.0,
    rate: float = RATE,
    dip: Dip | None = None,
) -> Window:
    """Return a window as long as the baseline before it, at `rate` operations a second.

    A mean of 1 s scatters by `noise`, relative; `errors` of all operations fail by themselves.
    """
    length = settings.baseline_s
    buckets = round(2 * length * BUCKETS_PER_S)
    offered = np.rint(rate / BUCKETS_PER_S * np.clip(1 + _wander(random, buckets, noise), 0, 2))
    served = np.full(buckets, 1.0 - errors)
    if dip is not None:
        first = round(1.5 * length * BUCKETS_PER_S)
        served[first : first + round(dip.seconds * BUCKETS_PER_S)] *= 1.0 - dip.depth
    ok = random.binomial(offered.astype(np.int64), served)
    return Window(signal_of_counts(offered, ok), 0.0, length, 2 * length, settings)


def out_of(signal: Signal, settings: MeasureSettings) -> Iterator[Window]:
    """Yield the windows of a real run: each baseline is the window before."""
    length = settings.baseline_s
    for number in range(1, int((signal.end - 1.0) / length)):
        middle = 1.0 + number * length
        yield Window(signal, middle - length, middle, middle + length, settings)


def _wander(random: np.random.Generator, buckets: int, noise: float) -> Floats:
    """Return a first-order autoregression; its means of 1 s have the standard deviation `noise`."""
    apart = np.abs(np.subtract.outer(np.arange(BUCKETS_PER_S), np.arange(BUCKETS_PER_S)))
    of_mean = math.sqrt(float((ALIKE**apart).mean()))
    steps = random.normal(0.0, 1.0, buckets)
    values = np.zeros(buckets)
    values[0] = steps[0]
    for i in range(1, buckets):
        values[i] = ALIKE * values[i - 1] + math.sqrt(1 - ALIKE**2) * steps[i]
    return np.asarray(noise / of_mean * values)


def signal_of_counts(offered: Any, ok: Any) -> Signal:
    """Return a load in open loop of which so many were offered and served in each bucket."""
    nothing = np.zeros(len(ok))
    return Signal(
        scope="total", open_loop=True, offered=offered, ok=ok, errors=offered - ok, shed=nothing,
        missed=nothing, pending=nothing, born=offered, served=ok,
    )  # fmt: skip
