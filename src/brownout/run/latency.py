"""Response times: read `latency.hlog`, add histograms, ask them for percentiles.

The file is an HdrHistogram interval log (format 1.3, payload V2, µs), a line a second and tag:

    Tag=app/read,12.000,1.000,4.351,HISTFAAAA…

The lines are taken apart by the load generator (`columns`): `hdrhistogram`'s own reader has no way
to choose a tag, adds the base time to each start, and ends at a torn last line with an exception.
`hdr` decodes the histograms of an episode; the percentiles of every second of a run, which may be a
hundred thousand histograms, come from the load generator.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError
from brownout.run.columns import Columns, ask_loadgen, read_columns
from brownout.run.hdr import Cells, Shape, check_shapes, decode, highest_values

__all__ = ["Histogram", "LatencyLog", "is_response", "log_of", "read_hlog"]

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
_NOTHING = np.empty((0, 3), np.int64)
#: So many intervals of a tag are decoded at once, and their cells kept.
_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of response times. Add histograms; never average what they say."""

    shape: Shape
    counts: Ints

    @property
    def n(self) -> int:
        """How many operations are in it."""
        return int(self.counts.sum())

    @property
    def max_us(self) -> int | None:
        """The longest time in µs; None without an operation."""
        return self.at_rank(self.n)

    def percentile_us(self, ratio: float, beyond: int = 0, below: int = 0) -> int | None:
        """Return the time in µs that the share `ratio` of the operations did not exceed.

        Of operations that are not in the histogram, `beyond` took longer than any that is, and
        `below` no time at all. None where the percentile is one of those beyond, or where there
        are no operations.
        """
        rank = max(1, int(np.ceil(ratio * (self.n + beyond + below) - 1e-9)))
        return 0 if rank <= below else self.at_rank(rank - below)

    def at_rank(self, rank: int) -> int | None:
        """Return the highest time that counts the same as the operation of this rank, in µs."""
        if not 1 <= rank <= self.n:
            return None
        index = int(np.searchsorted(np.cumsum(self.counts), rank))
        return int(highest_values(self.shape)[index])

    def sooner(self, us: int) -> "Histogram":
        """Return the same operations as if each had taken `us` less, if it took as long."""
        highest = highest_values(self.shape)
        places = np.searchsorted(highest, np.maximum(highest - us, highest[0]))
        counts = np.bincount(places, self.counts, minlength=len(highest)).astype(np.int64)
        return Histogram(self.shape, counts)

    def plus(self, other: "Histogram") -> "Histogram":
        """Return both together."""
        check_shapes(self.shape, other.shape)
        return Histogram(self.shape, self.counts + other.counts)


class LatencyLog:
    """The intervals of a run by tag, decoded when they are asked for."""

    def __init__(self, tracks: Mapping[str, "_Track"]) -> None:
        self._tracks = tracks

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag that is in the log."""
        return tuple(self._tracks)

    @property
    def end(self) -> float:
        """Seconds from the schedule's start to the end of the last interval; 0 without one."""
        return max((track.end for track in self._tracks.values()), default=0.0)

    def between(self, tags: Iterable[str], start: float, end: float) -> Histogram | None:
        """Return all intervals of `tags` whose middle lies in [start, end), added up.

        None where there is none.
        """
        total: Histogram | None = None
        for cells, _ in self._cells(tags, start, end):
            if total is None:
                total = _histogram(cells)
            else:
                check_shapes(total.shape, cells.shape)
                total.counts[:] += _histogram(cells).counts
        return total

    def seconds(self, tags: Iterable[str], start: float, end: float) -> dict[int, Histogram]:
        """Return the histogram of each second in [start, end) in which anything was ok."""
        by_second: dict[int, Histogram] = {}
        for cells, seconds in self._cells(tags, start, end):
            for second in np.unique(seconds).tolist():
                histogram = _histogram(cells.of(seconds == second))
                earlier = by_second.get(second)
                by_second[second] = histogram.plus(earlier) if earlier else histogram
        return dict(sorted(by_second.items()))

    def percentiles(
        self, tags: Iterable[str], end: float, ratios: Sequence[float]
    ) -> npt.NDArray[np.float64]:
        """Return a row for each whole second before `end`: the time in µs of each of `ratios`.

        The ratios ascend. A second in which nothing was ok is NaN. Equal to asking the histogram of
        each second, but without making it.
        """
        rows = np.full((max(0, math.ceil(end)), len(ratios)), np.nan)
        tracks = [self._tracks[tag] for tag in tags if tag in self._tracks]
        stored = np.concatenate([track.stored(len(rows)) for track in tracks] or [_NOTHING])
        if len(stored):
            stored = stored[np.argsort(stored[:, 0], kind="stable")]
            words = ("percentiles", str(tracks[0].path), *map(repr, ratios))
            answer = ask_loadgen(*words, stdin=stored.astype("<i8").tobytes())
            times = np.frombuffer(answer, "<i8").reshape(-1, len(ratios))
            rows[np.unique(stored[:, 0])] = np.where(times < 0, np.nan, times)
        return rows

    def _cells(self, tags: Iterable[str], start: float, end: float) -> Iterator[tuple[Cells, Ints]]:
        """Yield the cells of the intervals in [start, end), and the second of each interval."""
        for tag in tags:
            if tag in self._tracks:
                yield from self._tracks[tag].cells(start, end)


class _Track:
    """The intervals of one tag: their starts and lengths in seconds, and where payloads are.

    The payloads stay in their file, since those of a day are a gigabyte; they are decoded block by
    block and kept as cells.
    """

    def __init__(self, path: Path, columns: Mapping[str, Floats | Ints]) -> None:
        lengths, self._starts = columns["length"], columns["start"]
        self._places, self._sizes = columns["place"], columns["size"]
        self._middles = self._starts + lengths / 2
        self.path = path
        self.end = float((self._starts + lengths).max(initial=0.0))
        self._blocks: dict[int, Cells] = {}

    def cells(self, start: float, end: float) -> Iterator[tuple[Cells, Ints]]:
        """Yield the cells of the intervals whose middle lies in [start, end), and their seconds."""
        wanted = (start <= self._middles) & (self._middles < end)
        for block in np.unique(np.flatnonzero(wanted) // _BLOCK).tolist():
            here = slice(block * _BLOCK, (block + 1) * _BLOCK)
            if block not in self._blocks:
                self._blocks[block] = decode(self._payloads(here))
            chosen = wanted[here]
            yield self._blocks[block].of(chosen), self._starts[here][chosen].astype(np.int64)

    def stored(self, seconds: int) -> Ints:
        """Return second, place and size of the payload of each interval in the first `seconds`."""
        second = np.floor(self._starts)
        here = (second >= 0) & (second < seconds)
        columns = (second, self._places, self._sizes)
        return np.stack([column[here].astype(np.int64) for column in columns], axis=1)

    def _payloads(self, here: slice) -> list[bytes]:
        places, sizes = self._places[here].tolist(), self._sizes[here].tolist()
        try:
            with self.path.open("rb", buffering=0) as file:
                number = file.fileno()
                return [os.pread(number, *at) for at in zip(sizes, places, strict=True)]
        except OSError as error:
            raise RunDirectoryError(
                f"{self.path.name}: cannot be read: {error.strerror}"
            ) from error


def is_response(tag: str) -> bool:
    """Say whether a tag holds response times of ok operations: `stream/op` and nothing more."""
    return tag.count("/") == 1


def read_hlog(path: Path, wanted: Callable[[str], bool] = is_response) -> LatencyLog:
    """Read the intervals of the tags that are `wanted`; a torn last line is left out.

    A run without the file has no response times. Raises `RunDirectoryError` for a line in the
    middle that does not have the format.
    """
    (columns,) = read_columns(path)
    return log_of(path, columns, wanted)


def log_of(path: Path, read: Columns, wanted: Callable[[str], bool] = is_response) -> LatencyLog:
    """Return the log that stands in a file of which this was read."""
    tracks = {}
    for number, tag in enumerate(read.labels):
        if wanted(tag):
            here = np.flatnonzero(read.columns["tag"] == number)
            tracks[tag] = _Track(path, {name: rows[here] for name, rows in read.columns.items()})
    return LatencyLog(tracks)


def _histogram(cells: Cells) -> Histogram:
    """Add up cells."""
    most = len(highest_values(cells.shape))
    # Sums of float64 are exact up to 2**53, and many times faster than adding one by one.
    counts = np.bincount(cells.index, cells.count, minlength=most).astype(np.int64)
    return Histogram(cells.shape, counts)
