"""Thin a long series for a figure without losing an extreme.

A figure a thousand pixels wide cannot show 252,000 buckets. `thin` keeps, of each bin, the lowest
and the highest value where they stand, so that a dip of one bucket in seven hours still reaches
the bottom of the figure; a mean would have drawn it away.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_POINTS", "keep_windows", "thin"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Ten minutes of 100 ms buckets are drawn in full; longer series are thinned to about so many.
MOST_POINTS = 6000


def thin(values: Floats, most: int = MOST_POINTS, keep: Indices | None = None) -> Indices:
    """Return the ascending indices of `values` that a figure needs: all, or about 2/3 of `most`.

    Each of `most // 3` bins keeps the index of its lowest and of its highest value (the first of
    equals) and, where it has any, one gap (NaN), so that a gap stays a gap. The first and the
    last index stay too, and those in `keep`, which come on top.
    """
    n = len(values)
    if n <= most:
        return np.arange(n, dtype=np.int64)
    width = -(-n // max(1, most // 3))
    bins = -(-n // width)
    padded = np.full(bins * width, np.nan)
    padded[:n] = values
    table = padded.reshape(bins, width)
    starts = np.arange(bins, dtype=np.int64) * width
    gap = np.isnan(table)
    lowest = starts + np.where(gap, np.inf, table).argmin(axis=1)
    highest = starts + np.where(gap, -np.inf, table).argmax(axis=1)
    gaps = (starts + gap.argmax(axis=1))[gap.any(axis=1)]
    ends = np.array([0, n - 1], dtype=np.int64)
    extra = keep if keep is not None else np.empty(0, dtype=np.int64)
    chosen = np.unique(np.concatenate([lowest, highest, gaps, ends, extra]))
    return chosen[(chosen >= 0) & (chosen < n)]


def keep_windows(
    times: Floats, windows: Iterable[tuple[float, float]], most: int = MOST_POINTS
) -> Indices:
    """Return the indices of `times` inside the `windows` (s): what a thinned series keeps in full.

    Of a window with more than its share of `most` points only the first so many are kept: a fault
    is looked at closely where it begins.
    """
    spans = list(windows)
    share = most // max(1, len(spans))
    indices = [np.empty(0, dtype=np.int64)]
    for start, end in spans:
        first, last = np.searchsorted(times, (start, end))
        indices.append(np.arange(first, min(last, first + share), dtype=np.int64))
    return np.unique(np.concatenate(indices))
