"""Two samples of one measure compared by ranks: Mann-Whitney and Hodges-Lehmann. Pure.

Values are turned so that more is worse; a wait that never ended is infinite, which ranks bear.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONFIDENCE", "Shift", "edge_rank", "holm", "null_below", "shift"]

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
#: Above this the distribution of the statistic is near enough to normal.
_EXACT_UP_TO = 20
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much the second sample is worse than the first, in the measure's unit.

    `estimate` is Hodges and Lehmann's, the median of all differences of pairs; `low` and `high`
    bound it with 95 %, None where so few values allow no such interval; `p` is the chance of this
    order or a clearer one if nothing had become worse.
    """

    estimate: float
    low: float | None
    high: float | None
    p: float


def shift(before: Sequence[float], after: Sequence[float]) -> Shift:
    """Compare samples of at least one value each; more is worse."""
    differences = _differences(np.asarray(before, float), np.asarray(after, float))
    rank = edge_rank(len(before), len(after), (1 - CONFIDENCE) / 2)
    low = high = None
    if rank:
        low, high = float(differences[rank - 1]), float(differences[-rank])
    return Shift(_middle(differences), low, high, _p(before, after))


def holm(chances: Sequence[float]) -> list[float]:
    """Correct chances of several tests for their number, by Holm's step-down."""
    corrected, highest = [0.0] * len(chances), 0.0
    for done, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        highest = max(highest, min(1.0, chances[place] * (len(chances) - done)))
        corrected[place] = highest
    return corrected


def edge_rank(n: int, m: int, tail: float) -> int:
    """Return k so that the k-th lowest of all n·m differences bounds the shift with 1 - `tail`.

    0 where even the lowest does not: k is the most for which P(U <= k - 1) <= `tail` holds.
    Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, section 4.3.
    """
    below = null_below(n, m)
    return int(np.searchsorted(below, tail + 1e-12, side="right"))


@cache
def null_below(n: int, m: int) -> Floats:
    """Return P(U <= u) for u = 0 … n·m where both samples are of one distribution, no ties."""
    if max(n, m) > _EXACT_UP_TO:
        normal = NormalDist(n * m / 2, math.sqrt(n * m * (n + m + 1) / 12))
        return np.array([normal.cdf(u + 0.5) for u in range(n * m + 1)])
    # The coefficients of the Gaussian binomial (n + m over n): multiply by 1 - q^(m + i), then
    # divide by 1 - q^i. Python's integers keep it exact.
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for high in range(n * m, m + i - 1, -1):
            counts[high] -= counts[high - m - i]
        for low in range(i, n * m + 1):
            counts[low] += counts[low - i]
    return np.cumsum(np.asarray(counts, float)) / math.comb(n + m, n)


def _differences(before: Floats, after: Floats) -> Floats:
    """All differences of pairs, ascending; 0 for two that both never happened."""
    with np.errstate(invalid="ignore"):
        differences = np.subtract.outer(after, before).ravel()
    return np.sort(np.nan_to_num(differences, nan=0.0, posinf=np.inf, neginf=-np.inf))


def _middle(ranked: Floats) -> float:
    """The median; between a value and never it is never: there is no mean of the two."""
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return float(low if low == high else (low + high) / 2)


def _p(before: Sequence[float], after: Sequence[float]) -> float:
    """One-sided: the second sample has become worse. Exact for small samples, ties or not."""
    n, m = len(after), len(before)
    ranks = _doubled_ranks([*after, *before])
    rank_sum = sum(ranks[:n])
    if max(n, m) <= _EXACT_UP_TO:
        # ways[k, s]: in how many ways k of the ranks sum to s.
        ways = np.zeros((n + 1, sum(ranks) + 1), dtype=np.int64)
        ways[0, 0] = 1
        for rank in ranks:
            ways[1:, rank:] += ways[:-1, :-rank]
        return float(ways[n, rank_sum:].sum()) / math.comb(n + m, n)
    # Hollander, Wolfe and Chicken, section 4.1: the variance is less where values are equal.
    ties = sum(count**3 - count for count in Counter(ranks).values())
    spread = math.sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))))
    above = rank_sum / 2 - n * (n + m + 1) / 2 - 0.5
    return 1 - _NORMAL.cdf(above / spread) if spread else 1.0


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each from 1 on, equal ones the same; what was never reached comes last."""
    ranked = sorted(values)
    return [bisect_left(ranked, value) + bisect_right(ranked, value) + 1 for value in values]
