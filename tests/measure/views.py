"""The data of a small run and its view of a fault, for tests of single measures."""

from collections.abc import Mapping, Sequence

from brownout.measure.data import RunData, Stream
from brownout.measure.episodes import Episode
from brownout.measure.level import Level, level_of
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Signal, signal_of
from brownout.measure.view import View, view_of
from brownout.run.events import Event
from brownout.run.lanes import Lane, LaneKey
from brownout.run.table import BUCKETS_PER_S, Series

__all__ = ["data_of", "view"]


def data_of(
    series: Series,
    settings: MeasureSettings,
    events: Sequence[Event] = (),
    lanes: Mapping[str, Lane] | Mapping[LaneKey, Lane] | None = None,
) -> RunData:
    """Return the data of a run of one stream with a deadline of 1 s.

    Lanes without an operation are of a time before reads were told from writes.
    """
    end = len(series.completion) / BUCKETS_PER_S
    keyed = {LaneKey(*key) if isinstance(key, tuple) else LaneKey(key): lane
             for key, lane in (lanes or {}).items()}  # fmt: skip
    return RunData(series, events, [Stream("app")], settings, end, lanes=keyed)


def view(data: RunData, start: float, end: float) -> View:
    """Return what all of the load saw of a fault; its baseline is the 20 s before."""

    def of(scope: str) -> tuple[Signal, Level]:
        signal = signal_of(data.series, scope, "measured", 1.0)
        return signal, level_of(signal, start - 20.0, start, data.settings)

    events = tuple(event for event in data.events if event.type in ("break", "mend"))
    episode = Episode("kill_node", events, (), start, start, start, end)
    parts = {op: of(scope) for op, scope in data.series.parts("total").items()}
    return view_of(*of("total"), episode, start, end, data.settings, parts)
