"""When service was back: after the last dip of the broken phase, and again after a node's return.

```
effect            mend
  |  ~~~  ~~~~     |      ~~~~                   dips and outages
  |----broken------|
  |---recovery----|
                   |-return_recovery-|
```

The broken phase runs from the first effect to the first mend that takes effect. A dip that begins
within `hold_s` of the end of one that counts, counts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from brownout.measure.baseline import Baseline
from brownout.measure.data import RunData, Seen
from brownout.measure.dips import Dip, clip, find_dips
from brownout.measure.level import Level, drop
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Case, Floats, Signal, signal_of, sum_of, trailing_rate
from brownout.measure.view import View
from brownout.run.table import BUCKETS_PER_S, Series, bucket_of

__all__ = [
    "availability",
    "current_tps",
    "held",
    "held_from",
    "recovered_at",
    "recovered_no_sooner",
    "return_disturbance",
    "return_recovery_time",
]


@dataclass(frozen=True, slots=True)
class _Course:
    """The dips and outages of an episode, those of its broken phase apart, and when that ended."""

    broken: tuple[Dip, ...]
    later: tuple[Dip, ...]
    phase_end: float

    @property
    def all(self) -> tuple[Dip, ...]:
        return (*self.broken, *self.later)

    def since(self, view: View) -> float:
        """Return the end of the last dip that counts, or the effect without one."""
        return max([view.effective, *(dip.end for dip in self.broken)])


def recovered_at(view: View) -> float | None:
    """Return when service was back from the fault: the end of the last dip of its broken phase.

    A blackout counts like a dip. `hold_s` have to follow without a dip and with few enough errors;
    while those of the dip still end, it is not back. The effect itself without a dip in the phase,
    None if the load never held, or was not observed for long enough to say.
    """
    course = _course_of(view)
    if not course.broken and _calm_until_mended(view, course.phase_end):
        seen = min(view.until, view.signal.end) - view.effective
        return view.effective if seen >= view.settings.hold_s - 1e-9 else None
    return held_from(
        view.signal, course.all, view.level, course.since(view), view.until, view.settings
    )


def recovered_no_sooner(view: View) -> float:
    """Return the first moment that nothing seen until the end speaks against.

    If the load never held for a whole `hold_s`, it may have recovered there: the run ended before
    that could be seen.
    """
    course, signal, settings = _course_of(view), view.signal, view.settings
    since = course.since(view)
    if not course.broken and _calm_until_mended(view, course.phase_end):
        return since
    last = max(since, min(view.until, signal.end))
    moments = _candidates(course.all, since, last)
    calm = np.ones(len(moments), np.bool_)
    for dip in course.all:
        calm &= (dip.end <= moments + 1e-9) | (
            dip.start >= np.minimum(moments + settings.hold_s, last) - 1e-9
        )
    calm &= _errors_allowed(signal, view.level, moments, settings, last)
    return float(moments[np.argmax(calm)]) if calm.any() else last


def return_recovery_time(view: View, data: RunData) -> float | Seen | None:
    """Return the seconds from the first mend's effect to the end of the last dip that begins after
    it and does not count for `recovery_time`; 0 without one.

    None without a mend, and [so long, never] where a dip lasts to the end.
    """
    if not view.mended < view.until:
        return None
    course, back = _course_of(view), recovered_at(view)
    since = course.since(view) if back is None else back
    later = [dip for dip in course.later if dip.start >= since - 1e-9 and dip.start < view.end]
    if not later:
        return 0.0
    last = max(dip.end for dip in later)
    if last > view.until - 0.05:
        return max(0.0, view.until - view.mended), None
    return max(0.0, last - view.mended)


def _course_of(view: View) -> _Course:
    """Tell the dips and blackouts of the broken phase from those that came later."""
    dark = [Dip(*stretch) for stretch in (view.blackout.stretches if view.blackout else ())]
    dips = clip(list(view.all_dips), view.start, view.until)
    phase_end = view.end
    if view.mended < view.end:  # a dip in the mend's bucket may have begun with it
        phase_end = bucket_of(view.mended) / BUCKETS_PER_S
    broken, later, end, hold_s = list[Dip](), list[Dip](), -np.inf, view.settings.hold_s
    for dip in sorted([*dips, *dark], key=lambda dip: (dip.start, dip.end)):
        is_near = dip.start < max(end, view.effective) + hold_s - 1e-9
        if not is_near and dip not in dark and _may_be_noise(view, dip):
            continue
        if dip.start < phase_end - 1e-9 or dip.start < end + hold_s - 1e-9:
            broken.append(dip)
            end = max(end, dip.end)
        else:
            later.append(dip)
    return _Course(tuple(broken), tuple(later), phase_end)


def _may_be_noise(view: View, dip: Dip) -> bool:
    """Whether a dip in throughput is as shallow as noise sometimes makes one.

    A long series has several of these, and none of them means that service is not back. A dip in
    the success ratio is never noise.
    """
    if view.signal.open_loop:
        return False
    first, end = bucket_of(dip.start), bucket_of(dip.end) + BUCKETS_PER_S
    rates = trailing_rate(view.signal.ok[max(0, first - BUCKETS_PER_S) : end])[BUCKETS_PER_S:]
    return not len(rates) or drop(view.level.tps, float(rates.min())) <= view.level.detectable


def _calm_until_mended(view: View, phase_end: float) -> bool:
    """Whether few enough operations ended badly from the effect on, for a hold or until a mend."""
    hold = min(view.settings.hold_s, max(0.0, phase_end - view.effective))
    settings = replace(view.settings, hold_s=hold)
    effect = np.array([view.effective])
    return bool(_errors_allowed(view.signal, view.level, effect, settings)[0])


def held_from(
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
    return held_from(signal, dips, baseline.level, begin, signal.end, settings) is not None


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
    buckets = round(min(end * BUCKETS_PER_S, len(signal.errors)))
    first = np.minimum(np.floor(moments * BUCKETS_PER_S + 1e-6).astype(np.int64), buckets)
    after = np.minimum(first + round(settings.hold_s * BUCKETS_PER_S), buckets)
    errors = np.concatenate(([0], np.cumsum(signal.errors)))
    offered = np.concatenate(([0], np.cumsum(signal.offered)))
    ratio = level.error_ratio + settings.hold_error_ratio
    allowed = np.maximum(ratio * (offered[after] - offered[first]), settings.hold_operations)
    return np.asarray(errors[after] - errors[first] <= allowed, np.bool_)


def return_disturbance(view: View, data: RunData) -> float | None:
    """Return the length of all dips that began after a node was started or resumed, in seconds.

    None where the fault had no mend. The first mend's bucket counts whole; a dip that began
    before belongs to the fault.
    """
    mends = [
        event.requested
        for event in data.events
        if event.type == "mend"
        and event.requested is not None
        and view.start <= event.requested < view.end
    ]
    if not mends:
        return None
    since = bucket_of(min(mends)) / BUCKETS_PER_S
    return sum(dip.length for dip in view.dips if dip.start >= since)
