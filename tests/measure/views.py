"""The data of a small run and its view of a fault, for tests of single measures."""

from collections.abc import Mapping, Sequence

from brownout.measure.data import RunData, Stream
from brownout.measure.episodes import Episode
from brownout.measure.level import level_of
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import signal_of
from brownout.measure.view import View, view_of
from brownout.run.events import Event
from brownout.run.lanes import Lane
from brownout.run.table import BUCKETS_PER_S, Series

__all__ = ["data_of", "view"]


def data_of(
    series: Series,
    settings: MeasureSettings,
    events: Sequence[Event] = (),
    lanes: Mapping[str, Lane] | None = None,
) -> RunData:
    """Return the data of a run of one stream with a deadline of 1 s."""
    end = len(series.completion) / BUCKETS_PER_S
    return RunData(series, events, [Stream("app")], settings, end, lanes=lanes or {})


def view(data: RunData, start: float, end: float) -> View:
    """Return what all of the load saw of a fault; its baseline is the 20 s before."""
    signal = signal_of(data.series, "total", "measured", 1.0)
    level = level_of(signal, start - 20.0, start, data.settings)
    episode = Episode("kill_node", (), (), start, start, start, end)
    return view_of(signal, level, episode, start, end, data.settings)
