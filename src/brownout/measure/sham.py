"""Control windows: what the measures make of a time in which nothing was broken."""

from dataclasses import dataclass

from brownout.measure.data import RunData
from brownout.measure.dips import Dip, clip, dip_method, find_dips
from brownout.measure.drops import tps_drop
from brownout.measure.level import level_of
from brownout.measure.signal import Signal, bucket_range, sum_of

__all__ = ["Sham", "shams_of"]


@dataclass(frozen=True, slots=True)
class Sham:
    """One control window from `start` to `end`, in seconds since the schedule's start.

    It is measured against the baseline before it, as a fault there would be. A dip, or a
    `tps_drop` above that baseline's `detectable_drop`, is a false alarm.
    """

    start: float
    end: float
    tps_drop: float | None
    detectable_drop: float
    dips: tuple[Dip, ...]
    dip_method: str
    lost_operations: float | None

    @property
    def false_alarm(self) -> bool:
        """Whether something was seen where nothing was."""
        return bool(self.dips) or (
            self.tps_drop is not None and self.tps_drop > self.detectable_drop
        )


def shams_of(data: RunData, signal: Signal) -> tuple[Sham, ...]:
    """Return what was seen in each control window of a run; one that never ended is left out."""
    windows = [
        (event.effective, event.ended)
        for event in data.events
        if event.type == "sham" and event.effective is not None and event.ended is not None
    ]
    return tuple(_sham(data, signal, start, end) for start, end in windows)


def _sham(data: RunData, signal: Signal, start: float, end: float) -> Sham:
    settings = data.settings
    level = level_of(signal, max(0.0, start - settings.baseline_s), start, settings)
    here = bucket_range(start, end, len(signal.born))
    return Sham(
        start=start,
        end=end,
        tps_drop=tps_drop(signal, level, start, end),
        detectable_drop=level.detectable,
        dips=tuple(clip(find_dips(signal, level, settings), start, end)),
        dip_method=dip_method(signal),
        lost_operations=sum_of(signal.born[here] - signal.served[here])
        if signal.open_loop
        else None,
    )
