"""How far figures of a baseline may lie from the truth by its noise alone, neighbours being alike.

A rate that wanders looks unsteady to a test that takes its buckets for independent: of good
baselines of 60 s, whose buckets vary by 8 % and are alike by 0.8 (a first-order autoregression),
a third differ by more than 2 % between their halves. So each limit of steadiness is widened by
what the noise of the very baseline does to the figure.
"""

import math
from dataclasses import dataclass

import numpy as np

from brownout.measure.signal import Floats
from brownout.run.table import BUCKETS_PER_S

__all__ = ["NO_NOISE", "Noise", "noise_of"]

#: So many standard errors, and more of them the shorter the baseline is: at most 1 % of good
#: baselines are refused by a test (docs/calibration.md).
_ERRORS, _ERRORS_IN_A_SECOND = 2.6, 18.0
#: Neighbouring buckets are taken to be no more alike than this.
_MOST_ALIKE = 0.97
#: A shorter baseline does not show its noise; it never makes a pass (`baseline_min_s`).
_LEAST_S = 9.0
#: Means of so many parts of each half show what is alike over longer than a bucket.
_PARTS = 5
#: Of T that varies by what is allowed, so many seconds are worth one that is independent.
_SECONDS_ALIKE = 3.0
#: A robust standard deviation is so much less exact than that of normal noise.
_ROBUST = 1.16


@dataclass(frozen=True, slots=True)
class Noise:
    """What noise alone does to the halves and the drift of a baseline, relative to its level.

    `spread` is what it does to a standard deviation, relative to that one.
    """

    halves: float
    drift: float
    spread: float


NO_NOISE = Noise(0.0, 0.0, 0.0)


def noise_of(ok: Floats, sigma: float, variation_max: float) -> Noise:
    """Return the noise of a baseline with so many ok in each bucket; `sigma` is T's, a second.

    Trends within its halves and the step between them do not count as noise. The result is at
    most the noise that `variation_max` allows.
    """
    half = len(ok) // 2
    if 2 * half < _LEAST_S * BUCKETS_PER_S or not ok.sum():
        return NO_NOISE
    rests = [_detrended(ok[:half]), _detrended(ok[-half:])]
    of_mean = max(_by_neighbours(rests), _by_parts(rests)) / (2 * half)
    errors = _ERRORS + _ERRORS_IN_A_SECOND * BUCKETS_PER_S / (2 * half)
    independent = 2 * half / BUCKETS_PER_S / _SECONDS_ALIKE
    most = variation_max / math.sqrt(independent)
    relative = errors * min(math.sqrt(of_mean) / float(ok.mean()), most)
    if of_mean:
        independent = max(independent, (sigma / BUCKETS_PER_S) ** 2 / of_mean)
    return Noise(
        halves=2.0 * relative,
        drift=math.sqrt(12.0) * relative,
        spread=errors * _ROBUST / math.sqrt(2.0 * independent),
    )


def _detrended(values: Floats) -> Floats:
    steps = np.arange(len(values)) - (len(values) - 1) / 2
    rest = values - values.mean()
    return np.asarray(rest - (rest @ steps) / (steps @ steps) * steps, np.float64)


def _by_neighbours(rests: list[Floats]) -> float:
    """Return the variance of a mean of n buckets × n, as of a first-order autoregression."""
    squares = sum(float(rest @ rest) for rest in rests)
    if squares <= 0:
        return 0.0
    count = sum(len(rest) for rest in rests)
    alike = sum(float(rest[1:] @ rest[:-1]) for rest in rests) / squares
    # An estimate from so few buckets is too low by this.
    alike += (2 + 4 * min(1.0, max(0.0, alike))) / len(rests[0])
    alike = min(_MOST_ALIKE, max(0.0, alike))
    return squares / (count - 4) * (1 + alike) / (1 - alike)


def _by_parts(rests: list[Floats]) -> float:
    """Return the same, of whatever kind the noise is, by the means of parts of each half."""
    length = len(rests[0]) // _PARTS
    parts = np.stack([rest[: _PARTS * length].reshape(_PARTS, length) for rest in rests])
    return float((parts.mean(axis=2) ** 2).sum() / (len(rests) * (_PARTS - 2)) * length)
