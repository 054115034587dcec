"""Moving-block bootstrap: how far a figure of one run could be off by noise alone.

Neighbouring buckets are alike, so single values may not be drawn by themselves: an interval from
independent draws would be far too narrow. Blocks of some seconds keep what belongs together.
"""

import numpy as np

from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Interval", "interval", "medians"]

#: The 2.5th and the 97.5th percentile.
Interval = tuple[float, float]

_SEED = 20_260_101


def medians(values: Floats, settings: MeasureSettings) -> tuple[Floats, Floats] | None:
    """Return the median and the first value of each of `resamples` series like `values`.

    Each series is as long as `values` and put together from blocks of it. None where there are
    fewer than `blocks_min` blocks: an interval would be a guess. The same values give the same
    series.
    """
    block = max(1, round(settings.block_s * BUCKETS_PER_S))
    length = len(values)
    if length < block * settings.blocks_min:
        return None
    # A rate has few different values. Their ranks are short numbers, which sort ten times faster.
    distinct, ranks = np.unique(values, return_inverse=True)
    short = ranks.astype(np.min_scalar_type(max(256, len(distinct))))
    random = np.random.default_rng(_SEED)
    starts = random.integers(0, length - block + 1, (settings.resamples, -(-length // block)))
    blocks = np.lib.stride_tricks.sliding_window_view(short, block)
    series = blocks[starts].reshape(settings.resamples, -1)[:, :length]
    first = distinct[series[:, 0]]
    series.sort(axis=1, kind="stable")  # of numbers this short, a radix sort
    middle = distinct[series[:, (length - 1) // 2]], distinct[series[:, length // 2]]
    return (middle[0] + middle[1]) / 2, first


def interval(values: Floats, settings: MeasureSettings) -> Interval | None:
    """Return the 95 % interval of the median of `values`; None where `medians` returns None."""
    resampled = medians(values, settings)
    if resampled is None:
        return None
    low, high = np.percentile(resampled[0], [2.5, 97.5])
    return float(low), float(high)
