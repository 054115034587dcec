"""How often the tests of throughput refuse a baseline that is steady, and one that drifts.

The noise is a first-order autoregression; `alike` is how alike neighbouring buckets of 0.1 s are.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.calibration.alarms.window import RATE, signal_of_counts
from brownout.measure.baseline import OF_THROUGHPUT, steadiness
from brownout.measure.level import level_of
from brownout.measure.settings import MeasureSettings
from brownout.run.table import BUCKETS_PER_S

__all__ = ["ALIKE", "DRIFTS", "VARIATIONS", "Refusals", "refusals"]

ALIKE = (0.0, 0.5, 0.8, 0.9)
#: Standard deviation of T: `variation_max` allows 10 %.
VARIATIONS = (0.02, 0.05, 0.095)
#: How far a baseline drifts from its beginning to its end, in multiples of `drift_max`.
DRIFTS = (1.5, 2.0, 3.0)
#: T varies by so much in a baseline that drifts.
OF_DRIFTING = 0.01

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Refusals:
    """Of `windows` baselines, so many were refused by each test, and by any.

    They are `seconds` long. `drift` is how far they drift, relative; `variation` is the standard
    deviation of T.
    """

    seconds: float
    alike: float
    variation: float
    drift: float
    refused: dict[str, int]
    windows: int


def refusals(windows: int, settings: MeasureSettings, seed: int) -> list[Refusals]:
    """Return how often a steady baseline is refused, and one that drifts, where that is right."""
    steady = [(variation, 0.0) for variation in VARIATIONS]
    drifting = [(OF_DRIFTING, times * settings.drift_max) for times in DRIFTS]
    kinds = itertools.product(ALIKE, [*steady, *drifting])
    return [_refusals(windows, settings, seed, alike, *kind) for alike, kind in kinds]


def _refusals(
    windows: int,
    settings: MeasureSettings,
    seed: int,
    alike: float,
    variation: float,
    drift: float,
) -> Refusals:
    key = [seed, round(1000 * alike), round(1000 * variation), round(10_000 * drift)]
    random = np.random.default_rng(key)
    second = BUCKETS_PER_S  # T needs one before the baseline
    buckets = round(settings.baseline_s * BUCKETS_PER_S) + second
    course = 1 + drift * np.linspace(-0.5, 0.5, buckets)
    noise = _wander(random, windows, buckets, alike) * variation / _of_mean(alike)
    counts = np.rint(RATE / BUCKETS_PER_S * np.clip(course + noise, 0, None))
    refused = dict.fromkeys((*OF_THROUGHPUT, "any"), 0)
    for ok in counts:
        failed = _failed(ok, settings)
        for name in (*failed, *(["any"] if failed else [])):
            refused[name] += 1
    return Refusals(settings.baseline_s, alike, variation, drift, refused, windows)


def _failed(ok: Floats, settings: MeasureSettings) -> Sequence[str]:
    signal = signal_of_counts(ok, ok)
    end = len(ok) / BUCKETS_PER_S
    levelled = level_of(signal, end - settings.baseline_s, end, settings)
    tests = steadiness(signal, levelled, settings)
    return [test.name for test in tests if test.name in OF_THROUGHPUT and not test.ok]


def _wander(random: np.random.Generator, windows: int, buckets: int, alike: float) -> Floats:
    """Return autoregressions of variance 1, a row a window."""
    values = random.normal(0.0, 1.0, (buckets, windows))
    fresh = math.sqrt(1 - alike**2)
    for i in range(1, buckets):
        values[i] = alike * values[i - 1] + fresh * values[i]
    return np.asarray(values.T, np.float64)


def _of_mean(alike: float) -> float:
    """Return the standard deviation of a mean of 1 s of these."""
    apart = np.abs(np.subtract.outer(np.arange(BUCKETS_PER_S), np.arange(BUCKETS_PER_S)))
    return math.sqrt(float((alike**apart).mean()))
