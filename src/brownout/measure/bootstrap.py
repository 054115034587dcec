"""Moving-block bootstrap: how far a figure of one run could be off by noise alone.

Neighbouring buckets are alike, so single values may not be drawn by themselves: an interval from
independent draws would be far too narrow. Blocks of some seconds keep what belongs together.
"""

from collections.abc import Callable

import numpy as np

from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Interval", "interval", "resampled"]

#: The 2.5th and the 97.5th percentile.
Interval = tuple[float, float]

_SEED = 20_260_101


def resampled(values: Floats, settings: MeasureSettings) -> Floats | None:
    """Return `resamples` series as long as `values`, put together from blocks of it.

    None where there are fewer than `blocks_min` blocks: an interval would be a guess. The same
    values give the same resamples.
    """
    block = max(1, round(settings.block_s * BUCKETS_PER_S))
    if len(values) < block * settings.blocks_min:
        return None
    random = np.random.default_rng(_SEED)
    starts = random.integers(
        0, len(values) - block + 1, (settings.resamples, -(-len(values) // block))
    )
    index = starts[:, :, None] + np.arange(block)
    return np.asarray(values[index.reshape(settings.resamples, -1)[:, : len(values)]])


def interval(
    values: Floats, statistic: Callable[[Floats], Floats], settings: MeasureSettings
) -> Interval | None:
    """Return the 95 % interval of `statistic`, which maps an array of series to a value each."""
    series = resampled(values, settings)
    if series is None:
        return None
    low, high = np.percentile(statistic(series), [2.5, 97.5])
    return float(low), float(high)
