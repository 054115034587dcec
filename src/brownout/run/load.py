"""What the generator wrote of its operations: counts in buckets, and response times."""

from collections.abc import Iterable
from pathlib import Path

from brownout.run.columns import read_columns
from brownout.run.directory import RunDirectory
from brownout.run.latency import LatencyLog, log_of
from brownout.run.series import Series, series_of

__all__ = ["read_load"]


def read_load(directory: Path, closed: Iterable[str] = ()) -> tuple[Series, LatencyLog]:
    """Read both at the same time, as `read_series` and `read_hlog` read them one by one."""
    files = RunDirectory(directory)
    *views, intervals = read_columns(files.series, files.outcomes, files.latency)
    return series_of(views, closed), log_of(files.latency, intervals)
