"""The figures of a step, from the raw files that the load generator wrote."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brownout.run.csvfile import GENERATOR, read_rows
from brownout.run.latency import Histogram, LatencyLog
from brownout.run.load import read_load
from brownout.run.table import BUCKETS_PER_S, Key, Table, in_scope
from brownout.runs.capacity.judgement import Figures, Promise

__all__ = ["Measured", "Seconds", "measured_in"]

_BAD = ("late", "failed", "in_doubt", "shed")
#: Which whole seconds are judged: True for each that is.
Seconds = npt.NDArray[np.bool_]


class Measured:
    """A load's files, asked for what happened in some of its seconds."""

    def __init__(self, directory: Path) -> None:
        load = read_load(directory)
        self.outcomes: Table = load.series.outcomes
        self._latency: LatencyLog = load.latency
        self._lags = [(float(row[0]), float(row[1]))
                      for row in read_rows(directory / "generator.csv", GENERATOR)]  # fmt: skip

    @property
    def seconds(self) -> int:
        """How many whole seconds of the load are known."""
        return len(self.outcomes) // BUCKETS_PER_S

    def figures(self, stream: str, promises: Sequence[Promise], seconds: Seconds) -> Figures:
        """Return what `stream` did in `seconds`."""

        def count(name: str) -> int:
            return self._count(name, seconds, lambda key: key[0] == stream)

        own = [promise for promise in promises if promise.stream == stream]
        slow = {p.name: self._percentile(p, seconds) for p in own if self._any(p, seconds)}
        return Figures(stream, count("offered"), count("ok"), sum(map(count, _BAD)),
                       count("missed"), slow)  # fmt: skip

    def lag_p99_ms(self, seconds: Seconds) -> float | None:
        """Return how late the generator sent: the p99 of the seconds' own p99; None if unsaid."""
        lags = [lag for t, lag in self._lags if int(t) < len(seconds) and seconds[int(t)]]
        return float(np.percentile(lags, 99)) if lags else None

    def _any(self, promise: Promise, seconds: Seconds) -> bool:
        return self._count("offered", seconds, _chosen(promise)) > 0

    def _percentile(self, promise: Promise, seconds: Seconds) -> int | None:
        """Return a percentile of all operations; one that was not ok took too long for any."""
        chosen = _chosen(promise)
        tags = [tag for tag in self._latency.tags if chosen(_key(tag))]
        beyond = sum(self._count(name, seconds, chosen) for name in (*_BAD, "missed"))
        ok = _added(self._latency, tags, seconds)
        return None if ok is None else ok.percentile_us(promise.ratio, beyond)

    def _count(self, name: str, seconds: Seconds, chosen: Callable[[Key], bool]) -> int:
        columns = [j for j, key in enumerate(self.outcomes.keys) if chosen(key)]
        if not columns:
            return 0
        buckets = np.repeat(seconds, BUCKETS_PER_S)[: len(self.outcomes)]
        table = self.outcomes.columns[name][: len(buckets), columns]
        return int(table[buckets].sum())


def measured_in(start: float, end: float, length: int) -> Seconds:
    """Return the whole seconds that lie in [start, end] of a load of `length` seconds."""
    at = np.arange(length)
    return np.asarray((at >= start) & (at + 1 <= end))


def _chosen(promise: Promise) -> Callable[[Key], bool]:
    """Which streams' operations a promise is about."""

    def chosen(key: Key) -> bool:
        if key[0] != promise.stream:
            return False
        return in_scope(promise.scope, key) if promise.scope in _SCOPES else key[1] == promise.scope

    return chosen


_SCOPES = ("total", "read", "write")


def _key(tag: str) -> Key:
    stream, _, operation = tag.partition("/")
    return stream, operation


def _added(log: LatencyLog, tags: Sequence[str], seconds: Seconds) -> Histogram | None:
    """Return the histogram of all `seconds`, run by run of them."""
    total: Histogram | None = None
    for start, end in _runs(seconds):
        here = log.between(tags, start, end)
        if here is not None:
            total = here if total is None else total.plus(here)
    return total


def _runs(seconds: Seconds) -> list[tuple[int, int]]:
    """Return [start, end) of each unbroken run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], seconds, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
