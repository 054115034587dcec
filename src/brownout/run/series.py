"""The series of a run, from its files (`read_series`) or while it goes on (`LiveSeries`)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from brownout.run.csvfile import read_table
from brownout.run.live import LiveSeries
from brownout.run.table import (
    OUTCOME_COLUMNS,
    SERIES_COLUMNS,
    Series,
    Table,
    identity_violations,
)

__all__ = ["LiveSeries", "Series", "Table", "identity_violations", "read_series"]


def read_series(
    directory: Path, closed: Iterable[str] = (), completion: Sequence[str] = SERIES_COLUMNS
) -> Series:
    """Read `series.csv` and `outcomes.csv` of a run directory.

    `closed` names the streams in closed loop, `completion` the columns of `series.csv` that are
    wanted: the fewer, the faster. Without the files the series is empty; a torn end,
    as a killed generator leaves it, is cut off. Raises `RunDirectoryError` for a malformed file.
    """
    return Series(
        read_table(directory / "series.csv", SERIES_COLUMNS, completion),
        read_table(directory / "outcomes.csv", OUTCOME_COLUMNS),
        frozenset(closed),
    )
