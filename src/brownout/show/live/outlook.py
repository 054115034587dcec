"""The verdict so far: by the law of the measures, on what is known of the fault until now.

Only what can grow and never shrink is judged, so nothing that is called broken here is a pass in
the end. The last word has `brownout.judge.verdict`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brownout.show.live.board import Clock, Outlook
from brownout.show.live.course import Service, clocks_of

if TYPE_CHECKING:
    from brownout.measure.settings import MeasureSettings
    from brownout.measure.view import View
    from brownout.run.events import Event
    from brownout.run.table import Series

__all__ = ["Course", "limits_of", "measure", "outlook_of"]

Limits = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Course:
    """The latest fault's clocks, and the measures that can be told already."""

    clocks: tuple[Clock, ...] = ()
    values: Mapping[str, float] | None = None
    baseline_tps: float | None = None


def limits_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the run's upper limits on the whole load, by measure."""
    return {
        limit["measure"]: float(limit["limit"])
        for limit in record.get("limits") or []
        if limit.get("scope", "total") == "total"
    }


def measure(
    series: "Series", events: Sequence["Event"], settings: "MeasureSettings", limits: Limits
) -> Course:
    """Return how the latest fault develops."""
    from brownout.measure.episodes import episodes
    from brownout.measure.level import level_of
    from brownout.measure.signal import signal_of
    from brownout.measure.view import view_of

    accepted = [e for e in events if e.type == "phase" and e.name == "baseline_accepted"]
    if not accepted or accepted[-1].requested is None or not len(series.completion):
        return Course()
    signal, now = signal_of(series, "total"), series.completion.end
    end = accepted[-1].requested
    every = episodes(events, now)
    if every:
        end = every[0].requested - settings.baseline_gap_s
    before = max(0.0, end - settings.baseline_s), end
    level = level_of(signal, *before, settings)
    if not every or every[-1].effective is None or every[-1].effective > now:
        return Course(baseline_tps=level.tps)
    last = every[-1]
    # What the generator missed exceeds no limit: its outcome is unknown.
    signal = signal_of(series, "total", "best")
    parts = {}
    for op, scope in series.parts("total").items():
        usual = level_of(signal_of(series, scope), *before, settings)
        parts[op] = signal_of(series, scope, "best"), usual
    view = view_of(signal, level, last, every[-1].effective, now, settings, parts)
    clocks = clocks_of(last, now, _service(view), limits)
    return Course(clocks, _growing(view), level.tps)


def outlook_of(course: Course, limits: Limits) -> Outlook:
    """Return which limits are broken for good, and how many of those that can be told hold."""
    from brownout.show.report.words import quantity

    values = dict(course.values or {})
    for clock, name in zip(course.clocks, CLOCKS, strict=False):
        values[name] = clock.seconds
    limited = [(name, limit, values[name]) for name, limit in limits.items() if name in values]
    broken = tuple(
        f"{name} {quantity(name, value)} (limit {quantity(name, limit)})"
        for name, limit, value in limited
        if value > limit
    )
    return Outlook(broken, len(limited) - len(broken))


#: The measure of each clock, in the clocks' order.
CLOCKS = ("recovery_time", "rejoin_time", "redundancy_time")


def _service(view: "View") -> Service:
    from brownout.measure.recovery import recovered_at

    back = recovered_at(view)
    last_dip = max((dip.end for dip in view.dips), default=view.effective)
    last_bad = max(last_dip, _last_errors(view), view.effective)
    return Service(back, last_bad, view.signal.end, view.settings.hold_s)


def _last_errors(view: "View") -> float:
    """When, by completion, more errors ended at once than a whole hold may have."""
    import numpy as np

    from brownout.run.table import BUCKETS_PER_S

    settings, level = view.settings, view.level
    ratio = level.error_ratio + settings.hold_error_ratio
    allowed = max(ratio * level.tps * settings.hold_s, settings.hold_operations)
    bad = np.flatnonzero(view.signal.errors > allowed)
    return (int(bad[-1]) + 1) / BUCKETS_PER_S if len(bad) else 0.0


def _growing(view: "View") -> dict[str, float]:
    """The measures that only ever grow during a fault."""
    from brownout.measure.level import drop
    from brownout.measure.losses import lost_operations
    from brownout.measure.signal import bucket_range, trailing_rate

    here = bucket_range(view.start, view.end, len(view.signal.ok))
    values = {"errors": float(view.signal.errors[here].sum())}
    lost = lost_operations(view)
    if lost is not None and view.signal.open_loop:
        values["lost_operations"] = lost
        if view.level.tps:
            values["lost_seconds"] = lost / view.level.tps
    if (dark := view.blackout) is not None:
        values |= {"blackout": dark.total, "longest_blackout": dark.longest}
    rates = trailing_rate(view.signal.ok)[here]
    if len(rates):
        values["tps_drop"] = drop(view.level.tps, float(rates.min()))
    return values
