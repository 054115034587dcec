"""When service was back for good: the first moment that is followed by a whole hold."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from brownout.measure.baseline import Baseline
from brownout.measure.dips import Dip, find_dips
from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Case, Floats, Signal, signal_of, sum_of
from brownout.run.table import BUCKETS_PER_S, Series

__all__ = ["availability", "current_tps", "held", "recovered_at", "recovered_no_sooner"]


def recovered_at(
    signal: Signal,
    dips: Sequence[Dip],
    level: Level,
    since: float,
    end: float,
    settings: MeasureSettings,
) -> float | None:
    """Return the first moment from `since` on after which the load held until `end` at the latest.

    It held if `hold_s` seconds passed without a dip, and with errors, by completion, of at most
    the baseline's ratio + 0.1 % or one operation. None if that never was.
    """
    last = min(end, signal.end) - settings.hold_s
    moments = _candidates(dips, since, last)
    if not len(moments):
        return None
    calm = np.ones(len(moments), np.bool_)
    for dip in dips:
        calm &= (dip.end <= moments + 1e-9) | (dip.start >= moments + settings.hold_s - 1e-9)
    calm &= _errors_allowed(signal, level, moments, settings)
    return float(moments[np.argmax(calm)]) if calm.any() else None


def recovered_no_sooner(
    signal: Signal,
    dips: Sequence[Dip],
    level: Level,
    since: float,
    end: float,
    settings: MeasureSettings,
) -> float:
    """Return the first moment from `since` on that nothing seen until `end` speaks against.

    Where the load never held for a whole `hold_s`, it may have come back then, and nobody looked
    on for long enough.
    """
    last = max(since, min(end, signal.end))
    moments = _candidates(dips, since, last)
    calm = np.ones(len(moments), np.bool_)
    for dip in dips:
        calm &= (dip.end <= moments + 1e-9) | (
            dip.start >= np.minimum(moments + settings.hold_s, last) - 1e-9
        )
    calm &= _errors_allowed(signal, level, moments, settings, last)
    return float(moments[np.argmax(calm)]) if calm.any() else last


def held(
    series: Series,
    since: float,
    baseline: Baseline,
    settings: MeasureSettings,
    case: Case = "measured",
) -> bool:
    """Say whether a load that still runs has held for the last `hold_s` seconds, since `since`."""
    signal = signal_of(series, "total", case)
    begin = signal.end - settings.hold_s
    if begin < since:
        return False
    dips = find_dips(signal, baseline.level, settings)
    return recovered_at(signal, dips, baseline.level, begin, signal.end, settings) is not None


def current_tps(series: Series, scope: str = "total") -> float | None:
    """Return T now: ok per second over the last whole second; None before there is one."""
    ok = signal_of(series, scope).ok[-BUCKETS_PER_S:]
    return float(ok.sum()) if len(ok) == BUCKETS_PER_S else None


def availability(series: Series, last_s: float, scope: str = "total") -> float | None:
    """Return ok/offered of what was to start in the last `last_s` seconds that have all ended.

    None in closed loop, before there is that much, or where nothing was offered.
    """
    signal, buckets = signal_of(series, scope), round(last_s * BUCKETS_PER_S)
    offered = sum_of(signal.born[-buckets:])
    if not signal.open_loop or not 0 < buckets <= len(signal.born) or not offered:
        return None
    return sum_of(signal.served[-buckets:]) / offered


def _candidates(dips: Sequence[Dip], since: float, last: float) -> Floats:
    """Return the moments that a hold may begin at: `since`, each bucket's start, each dip's end."""
    first = int(np.floor(since * BUCKETS_PER_S + 1e-6)) + 1
    buckets = np.arange(first, int(np.floor(last * BUCKETS_PER_S + 1e-6)) + 1) / BUCKETS_PER_S
    ends = [dip.end for dip in dips if dip.end > since]
    moments = np.unique(np.concatenate(([since], buckets, ends)))
    return np.asarray(moments[moments <= last + 1e-9], np.float64)


def _errors_allowed(
    signal: Signal,
    level: Level,
    moments: Floats,
    settings: MeasureSettings,
    end: float = np.inf,
) -> npt.NDArray[np.bool_]:
    """Say for each moment whether few enough operations ended badly in the hold after it."""
    known = round(min(end * BUCKETS_PER_S, len(signal.errors)))
    first = np.minimum(np.floor(moments * BUCKETS_PER_S + 1e-6).astype(np.int64), known)
    after = np.minimum(first + round(settings.hold_s * BUCKETS_PER_S), known)
    errors = np.concatenate(([0], np.cumsum(signal.errors)))
    offered = np.concatenate(([0], np.cumsum(signal.offered)))
    ratio = level.error_ratio + settings.hold_error_ratio
    allowed = np.maximum(ratio * (offered[after] - offered[first]), settings.hold_operations)
    return np.asarray(errors[after] - errors[first] <= allowed, np.bool_)
