"""What a generator wrote of its operations: counts in buckets, lanes and response times."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from brownout.run.columns import read_columns
from brownout.run.directory import RunDirectory
from brownout.run.lanes import Lane, LaneKey, lanes_of
from brownout.run.latency import LatencyLog, log_of
from brownout.run.series import Series, series_of

__all__ = ["Load", "read_load"]


class Load(NamedTuple):
    """A load as its generator recorded it."""

    series: Series
    latency: LatencyLog
    lanes: Mapping[LaneKey, Lane]


def read_load(directory: Path, closed: Iterable[str] = ()) -> Load:
    """Read all of it at the same time; `closed` names the streams in closed loop.

    Equal to `read_series`, `read_hlog` and `read_lanes`, one after the other.
    """
    files = RunDirectory(directory)
    *views, intervals, lanes = read_columns(
        files.series, files.outcomes, files.latency, files.lanes
    )
    return Load(series_of(views, closed), log_of(files.latency, intervals), lanes_of(lanes))
