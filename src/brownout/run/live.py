"""The series of a load that is still running, fed from the generator's live events."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.base.errors import GeneratorError
from brownout.run.table import (
    OUTCOME_COLUMNS,
    SERIES_COLUMNS,
    Key,
    Series,
    Table,
    bucket_of,
    frozen,
)

__all__ = ["LiveSeries"]

Row = Sequence[Any]


class LiveSeries:
    """Collects `live` events; `snapshot` may be called from any thread at any time.

    A snapshot shares the memory of what was already there, so taking one is cheap however long
    the load has run. `closed` names the streams in closed loop.
    """

    def __init__(self, closed: Iterable[str] = ()) -> None:
        self._closed = frozenset(closed)
        self._lock = threading.Lock()
        self._completion = _Growing("series", SERIES_COLUMNS)
        self._outcomes = _Growing("outcomes", OUTCOME_COLUMNS)

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event of the generator; any but `live` is ignored.

        Raises `GeneratorError` where buckets are missing: what follows would be shifted in time.
        """
        if event.get("event") != "live":
            return
        with self._lock:
            self._completion.add(event.get("series", ()))
            self._outcomes.add(event.get("outcomes", ()))

    def snapshot(self) -> Series:
        """Return all whole buckets that have come so far."""
        with self._lock:
            return Series(self._completion.table(), self._outcomes.table(), self._closed)


class _Growing:
    """A table that only grows: rows once written never change, so views of it stay true."""

    def __init__(self, what: str, columns: Sequence[str]) -> None:
        self._what, self._columns = what, columns
        self._keys: dict[Key, int] = {}
        self._rows: npt.NDArray[np.int64] = np.zeros((0, 0, len(columns)), np.int64)
        self._buckets = 0
        self._waiting: list[Row] = []

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows in the order of their buckets; a bucket that comes again is ignored."""
        for row in rows:
            bucket = bucket_of(float(row[0]))
            if bucket < self._buckets:
                continue
            if self._waiting and bucket_of(float(self._waiting[0][0])) != bucket:
                self._close()
            if bucket != self._buckets:
                raise GeneratorError(
                    f"the generator's live {self._what} jump from {self._buckets / 10:.1f} s to "
                    f"{bucket / 10:.1f} s; wanted every bucket of 0.1 s"
                )
            self._waiting.append(row)
            if self._keys and len(self._waiting) == len(self._keys):
                self._close()

    def _close(self) -> None:
        """Write the waiting bucket; the first one tells which streams and operations there are."""
        if not self._keys:
            self._keys = {(str(r[1]), str(r[2])): i for i, r in enumerate(self._waiting)}
            self._rows = np.zeros((1024, len(self._keys), len(self._columns)), np.int64)
        if self._buckets == len(self._rows):
            grown = np.zeros((2 * self._buckets, *self._rows.shape[1:]), np.int64)
            grown[: self._buckets] = self._rows
            self._rows = grown
        for row in self._waiting:
            index = self._keys.get((str(row[1]), str(row[2])))
            whole = len(self._waiting) == len(self._keys)
            if index is None or not whole or len(row) != 3 + len(self._columns):
                raise GeneratorError(
                    f"the generator's live {self._what} are malformed near {list(row)}; wanted a "
                    "row for every stream and operation in every bucket"
                )
            self._rows[self._buckets, index] = row[3:]
        self._buckets += 1
        self._waiting = []

    def table(self) -> Table:
        """Return the whole buckets as a table that shares this one's memory."""
        whole = self._rows[: self._buckets]
        columns = {name: whole[:, :, i] for i, name in enumerate(self._columns)}
        return Table(tuple(self._keys), frozen(columns))
