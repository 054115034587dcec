"""The series of a run, from its files (`read_series`) or during the run (`LiveSeries`)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from brownout.run.columns import Columns, read_columns
from brownout.run.live import LiveSeries
from brownout.run.table import Key, Series, Table, frozen, identity_violations

__all__ = [
    "LiveSeries",
    "Series",
    "Table",
    "identity_violations",
    "read_series",
    "series_of",
]


def read_series(directory: Path, closed: Iterable[str] = ()) -> Series:
    """Read `series.csv` and `outcomes.csv` of a run directory.

    `closed` names the streams in closed loop. Without the files the series is empty; a torn end,
    as a killed generator leaves it, is cut off: a bucket whose rows are not all there is still
    being written. Raises `RunDirectoryError` for a malformed file.
    """
    return series_of(read_columns(directory / "series.csv", directory / "outcomes.csv"), closed)


def series_of(views: Sequence[Columns], closed: Iterable[str]) -> Series:
    """Return the series that stands in `series.csv` and `outcomes.csv`, of which this was read."""
    completion, outcomes = map(_table, views)
    return Series(completion, outcomes, frozenset(closed))


def _table(read: Columns) -> Table:
    keys: list[Key] = []
    for label in read.labels:
        stream, _, operation = label.partition(",")
        keys.append((stream, operation))
    per_bucket = len(keys)
    columns = {
        name: counts.reshape(len(counts) // max(1, per_bucket), per_bucket)
        for name, counts in read.columns.items()
    }
    return Table(tuple(keys), frozen(columns))
