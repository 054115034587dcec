"""Every way to see a fault in a series: those of `brownout.measure`, and two from the textbook.

The last two are here to be compared; no measure uses them.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from brownout.calibration.alarms.window import Window
from brownout.measure.dips import clip, find_dips
from brownout.measure.drops import tps_drop, tps_drop_interval, tps_drop_sham
from brownout.measure.level import Level, level_of
from brownout.measure.signal import bucket_range

__all__ = ["DETECTORS", "Detector"]

Detector = Callable[[Window], bool]
Floats = npt.NDArray[np.float64]

#: CUSUM: what is forgiven each bucket and what is too much, in standard deviations.
CUSUM_SLACK, CUSUM_LIMIT = 1.0, 10.0
MAD_LIMIT = 3.0


def by_ratio(window: Window) -> bool:
    """A dip by success ratio: what a run in open loop goes by."""
    return _has_dip(window, open_loop=True)


def by_throughput(window: Window) -> bool:
    """A dip by throughput: what a run in closed loop goes by."""
    return _has_dip(window, open_loop=False)


def by_detectable_drop(window: Window) -> bool:
    """A `tps_drop` above the noise of the baseline."""
    level = _level(window)
    drop = tps_drop(window.signal, level, window.middle, window.end)
    return drop is not None and drop > level.detectable


def by_bootstrap(window: Window) -> bool:
    """A `tps_drop` whose whole interval lies above what noise makes of it (`tps_drop_sham`)."""
    level = _level(window)
    sham = tps_drop_sham(window.signal, level, window.end - window.middle)
    interval = tps_drop_interval(window.signal, level, window.middle, window.end, window.settings)
    return interval is not None and sham is not None and interval[0] > sham


def by_mad(window: Window) -> bool:
    """A bucket further below the median than three robust standard deviations."""
    return bool((_standardised(window) < -MAD_LIMIT).any())


def by_cusum(window: Window) -> bool:
    """A one-sided cumulative sum of the buckets' distance below the median."""
    total = 0.0
    for value in (-_standardised(window)).tolist():
        total = max(0.0, total + value - CUSUM_SLACK)
        if total > CUSUM_LIMIT:
            return True
    return False


#: By the name that the table has for it.
DETECTORS: dict[str, Detector] = {
    "dips by success ratio": by_ratio,
    "dips by throughput": by_throughput,
    "`tps_drop` above the detectable drop": by_detectable_drop,
    "interval of `tps_drop` above the sham": by_bootstrap,
    "3 MAD of single buckets (not used)": by_mad,
    "CUSUM, k = 1, h = 10 (not used)": by_cusum,
}


def _level(window: Window) -> Level:
    return level_of(window.signal, window.start, window.middle, window.settings)


def _has_dip(window: Window, open_loop: bool) -> bool:
    signal = replace(window.signal, open_loop=open_loop)
    dips = find_dips(signal, _level(window), window.settings)
    return bool(clip(dips, window.middle, window.end))


def _standardised(window: Window) -> Floats:
    """Return the window's buckets as distances from the baseline's median in its own spread.

    A baseline without any spread has one operation's.
    """
    ok = np.asarray(window.signal.ok, np.float64)
    base = ok[bucket_range(window.start, window.middle, len(ok))]
    middle = float(np.median(base))
    spread = 1.4826 * float(np.median(np.abs(base - middle))) or 1.0
    here = ok[bucket_range(window.middle, window.end, len(ok))]
    return np.asarray((here - middle) / spread)
