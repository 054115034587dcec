"""A run directory that is still being written, read again only where it has grown."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from brownout.base.errors import RunDirectoryError

if TYPE_CHECKING:
    from brownout.run.events import Event
    from brownout.run.table import Series

__all__ = ["RunFiles"]

T = TypeVar("T")
#: p50 and p99 in ms.
Percentiles = tuple[float | None, float | None]


class RunFiles:
    """The files of one run. What is not there yet, or only half, is as if it were not."""

    def __init__(self, path: Path) -> None:
        from brownout.run.directory import RunDirectory

        self.path = path
        self._files = RunDirectory(path)
        self._kept: dict[str, tuple[tuple[int, ...], Any]] = {}

    def record(self) -> Mapping[str, Any]:
        """Return run.json."""
        from brownout.run.metadata import read_json

        return self._fresh((self._files.run_json,), lambda: read_json(self._files.run_json), {})

    def events(self) -> "Sequence[Event]":
        """Return the events so far."""
        from brownout.run.events import read_events

        return self._fresh((self._files.events,), lambda: read_events(self._files.events), ())

    def series(self) -> "Series | None":
        """Return the series so far."""
        from brownout.run.series import read_series

        streams = (self.record().get("workload") or {}).get("streams") or []
        closed = [stream["name"] for stream in streams if stream.get("concurrency")]
        both = (self._files.series, self._files.outcomes)
        return self._fresh(both, lambda: read_series(self.path, closed), None)

    def causes(self) -> Mapping[str, int]:
        """Return the errors so far by cause."""
        return self._fresh((self._files.errors,), self._count_causes, {})

    def percentiles_ms(self) -> Percentiles:
        """Return p50 and p99 of what was ok in the last second of the latency log, in ms."""
        nothing: Percentiles = (None, None)
        return self._fresh((self._files.latency,), self._last_second, nothing)

    def _count_causes(self) -> dict[str, int]:
        from brownout.run.csvfile import read_rows

        counts: dict[str, int] = {}
        for row in read_rows(self._files.errors, ("t", "stream", "op", "cause", "code", "n")):
            counts[row[3]] = counts.get(row[3], 0) + int(row[5])
        return counts

    def _last_second(self) -> Percentiles:
        from brownout.run.latency import read_hlog

        log = read_hlog(self._files.latency)
        seconds = log.seconds(log.tags, self._end() - 2.0, float("inf"))
        if not seconds:
            return None, None
        last = seconds[max(seconds)]
        p50, p99 = last.percentile_us(0.5), last.percentile_us(0.99)
        return (None if p50 is None else p50 / 1000), (None if p99 is None else p99 / 1000)

    def _end(self) -> float:
        series = self.series()
        return 0.0 if series is None else series.completion.end

    def _fresh(self, paths: Sequence[Path], read: Callable[[], T], absent: T) -> T:
        """Return what `read` returns, called only if a file's size or time has changed."""
        try:
            mark = tuple(n for p in paths for n in (p.stat().st_size, p.stat().st_mtime_ns))
        except OSError:
            return absent
        key = paths[0].name
        if key not in self._kept or self._kept[key][0] != mark:
            with suppress(RunDirectoryError):  # it is being written this moment: next time
                self._kept[key] = mark, read()
        content: T = self._kept[key][1] if key in self._kept else absent
        return content
