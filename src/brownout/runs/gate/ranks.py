"""Two samples of one measure compared by ranks: Mann-Whitney and Hodges-Lehmann. Pure.

Values are turned so that more is worse; a wait that never ended is infinite, which ranks bear.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import PermutationMethod, mannwhitneyu, norm

__all__ = ["CONFIDENCE", "Shift", "edge_rank", "null_below", "shift"]

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
#: So many ways to deal the values to two samples are all tried; beyond them the normal
#: approximation is good.
_MOST_DEALS = 20_000
#: Above this the distribution of the statistic is near enough to normal.
_EXACT_UP_TO = 20


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
        u = np.arange(n * m + 1)
        spread = math.sqrt(n * m * (n + m + 1) / 12)
        return np.asarray(norm.cdf((u + 0.5 - n * m / 2) / spread), dtype=np.float64)
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
    """All differences of pairs, ascending; of two that never came there is none: 0."""
    with np.errstate(invalid="ignore"):
        found = np.subtract.outer(after, before).ravel()
    return np.sort(np.nan_to_num(found, nan=0.0, posinf=np.inf, neginf=-np.inf))


def _middle(ranked: Floats) -> float:
    """The median; between a value and never it is never: there is no mean of the two."""
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return float(low if low == high else (low + high) / 2)


def _p(before: Sequence[float], after: Sequence[float]) -> float:
    """One-sided: the second sample has become worse. Exact where that can be had, ties or not."""
    ranks = _ranks([*after, *before])
    few = math.comb(len(ranks), len(before)) <= _MOST_DEALS
    method: Any = "asymptotic"
    if few:
        untied = len(set(ranks)) == len(ranks)
        method = "exact" if untied else PermutationMethod(n_resamples=_MOST_DEALS)
    found = mannwhitneyu(
        ranks[: len(after)], ranks[len(after) :], alternative="greater", method=method
    )
    return float(found.pvalue)


def _ranks(values: Sequence[float]) -> list[int]:
    """Finite numbers in the same order: what was never reached comes last."""
    order = {value: place for place, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]
