"""Response times: read `latency.hlog`, add histograms, ask them for percentiles.

The file is an HdrHistogram interval log (format 1.3, payload V2, µs), a line a second and tag:

    Tag=app/read,12.000,1.000,4.351,HISTFAAAA…

The lines are taken apart here: `hdrhistogram`'s own reader has no way to choose a tag, adds the
base time to each start, and ends at a torn last line with an exception. `hdr` decodes them.
"""

import math
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError
from brownout.run.hdr import Cells, Shape, check_shapes, decode, highest_values
from brownout.run.shape import are_times

__all__ = ["Histogram", "LatencyLog", "is_response", "read_hlog"]

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
_SPACE = b" "[0]
#: Bytes taken at once.
_CHUNK = 1 << 18
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

    def plus(self, other: "Histogram") -> "Histogram":
        """Return both together."""
        check_shapes(self.shape, other.shape)
        return Histogram(self.shape, self.counts + other.counts)


class _Stored:
    """Payloads that stay in their file until they are asked for: those of a day are a gigabyte."""

    def __init__(self, path: Path, places: Ints, sizes: Ints) -> None:
        self._path, self._places, self._sizes = path, places, sizes

    def __getitem__(self, here: slice) -> list[bytes]:
        places, sizes = self._places[here].tolist(), self._sizes[here].tolist()
        try:
            with self._path.open("rb", buffering=0) as file:
                number = file.fileno()
                return [os.pread(number, *at) for at in zip(sizes, places, strict=True)]
        except OSError as error:
            raise RunDirectoryError(
                f"{self._path.name}: cannot be read: {error.strerror}"
            ) from error


class Intervals(NamedTuple):
    """What one tag did: intervals of `lengths[i]` seconds from `starts[i]` on, by payload."""

    starts: Floats
    lengths: Floats
    payloads: list[bytes] | _Stored


class LatencyLog:
    """The intervals of a run by tag, decoded when they are asked for."""

    def __init__(self, tags: Mapping[str, Intervals]) -> None:
        self._tracks = {tag: _Track(intervals) for tag, intervals in tags.items()}

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
        found: dict[int, Histogram] = {}
        for cells, seconds in self._cells(tags, start, end):
            for second in np.unique(seconds).tolist():
                histogram = _histogram(cells.of(seconds == second))
                known = found.get(second)
                found[second] = histogram.plus(known) if known else histogram
        return dict(sorted(found.items()))

    def percentiles(
        self, tags: Sequence[str], end: float, ratios: Sequence[float]
    ) -> npt.NDArray[np.float64]:
        """Return a row for each whole second before `end`: the time in µs of each of `ratios`.

        A second in which nothing was ok is NaN. Equal to asking the histogram of each second, but
        without making it.
        """
        rows = np.full((max(0, math.ceil(end)), len(ratios)), np.nan)
        for start in range(0, len(rows), _BLOCK):
            parts = list(self._cells(tags, start, start + _BLOCK))
            if parts:
                chunk = _percentiles(parts, start, ratios)[: len(rows) - start]
                rows[start : start + len(chunk)] = chunk
        return rows

    def _cells(self, tags: Iterable[str], start: float, end: float) -> Iterator[tuple[Cells, Ints]]:
        """Yield the cells of the intervals in [start, end), and the second of each interval."""
        for tag in tags:
            if tag in self._tracks:
                yield from self._tracks[tag].cells(start, end)


class _Track:
    """The intervals of one tag, decoded block by block and kept as cells."""

    def __init__(self, intervals: Intervals) -> None:
        self._starts, lengths, self._payloads = intervals
        self._middles = self._starts + lengths / 2
        self._blocks: dict[int, Cells] = {}
        self.end = float((self._starts + lengths).max(initial=0.0))

    def cells(self, start: float, end: float) -> Iterator[tuple[Cells, Ints]]:
        """Yield the cells of the intervals whose middle lies in [start, end), and their seconds."""
        wanted = (start <= self._middles) & (self._middles < end)
        for block in np.unique(np.flatnonzero(wanted) // _BLOCK).tolist():
            here = slice(block * _BLOCK, (block + 1) * _BLOCK)
            if block not in self._blocks:
                self._blocks[block] = decode(self._payloads[here])
            chosen = wanted[here]
            yield self._blocks[block].of(chosen), self._starts[here][chosen].astype(np.int64)


def is_response(tag: str) -> bool:
    """Say whether a tag holds response times of ok operations: `stream/op` and nothing more."""
    return tag.count("/") == 1


def read_hlog(path: Path, wanted: Callable[[str], bool] = is_response) -> LatencyLog:
    """Read the intervals of the tags that are `wanted`; a torn last line is left out.

    A run without the file has no response times. Raises `RunDirectoryError` for a line in the
    middle that is none of the format.
    """
    if not path.exists():
        return LatencyLog({})
    try:
        found = _told(path, wanted)
        return LatencyLog({tag: lines.intervals(path) for tag, lines in found.items()})
    except ValueError as error:
        raise _malformed(path, wanted) from error


@dataclass(slots=True)
class _Lines:
    """What the lines of one tag say, and where their payloads are: `start,length,max,payload`."""

    starts: "array[float]" = field(default_factory=lambda: array("d"))
    lengths: "array[float]" = field(default_factory=lambda: array("d"))
    places: "array[int]" = field(default_factory=lambda: array("q"))
    sizes: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, text: bytes, begin: int, end: int, place: int) -> None:
        """Take the line in `text[begin:end]`, without its tag; the text is at `place` of its file.

        Raises ValueError for a line of another form.
        """
        length = text.find(b",", begin, end) + 1
        longest = text.find(b",", length, end) + 1
        payload = text.find(b",", longest, end) + 1
        if not 0 < length < longest < payload:
            raise ValueError("a line without four fields")
        self.starts.append(float(text[begin : length - 1]))
        self.lengths.append(float(text[length : longest - 1]))
        self.places.append(place + payload)
        bare = text[end - 1] > _SPACE
        self.sizes.append(end - payload if bare else len(text[payload:end].rstrip()))

    def intervals(self, path: Path) -> Intervals:
        """Return them; raises ValueError for a time that no run has."""
        starts, lengths = np.array(self.starts), np.array(self.lengths)
        if not (are_times(starts) and are_times(lengths)):
            raise ValueError("a run has no such time")
        stored = _Stored(path, np.array(self.places), np.array(self.sizes))
        return Intervals(starts, lengths, stored)


def _told(path: Path, wanted: Callable[[str], bool]) -> dict[str, _Lines]:
    """Return the lines of each tag that is wanted, whole lines only."""
    found: dict[bytes, _Lines | None] = {}
    place, rest = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            text, begin = rest + chunk, 0
            while (end := text.find(b"\n", begin)) >= 0:
                comma = text.find(b",", begin, end)
                tag = text[begin:comma] if comma >= 0 else b""
                if not tag.startswith(b"Tag="):
                    tag, comma = b"", begin - 1
                if tag not in found:
                    found[tag] = _Lines() if wanted(_name(tag)) else None
                lines = found[tag]
                if lines is not None and (tag or not _says_nothing(text[begin:end])):
                    lines.add(text, comma + 1, end, place)
                begin = end + 1
            place += begin
            rest = text[begin:]
    return {_name(tag): lines for tag, lines in found.items() if lines and lines.starts}


def _malformed(path: Path, wanted: Callable[[str], bool]) -> RunDirectoryError:
    """Name the first line that is no interval; it is looked for only where there is one."""
    said = "it changed while it was read"
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            tag, _, rest = line.partition(b",") if line.startswith(b"Tag=") else (b"", b"", line)
            if _says_nothing(line) or not wanted(_name(tag)):
                continue
            try:
                lines = _Lines()
                lines.add(rest, 0, len(rest), 0)
                lines.intervals(path)
            except ValueError:
                shown = line[:60].rstrip().decode("utf-8", "replace")
                said = f"line {number} is no interval: `{shown}`"
                break
    return RunDirectoryError(f"latency.hlog: {said}")


def _says_nothing(line: bytes) -> bool:
    return line.startswith((b"#", b'"')) or not line.strip()


def _name(tag: bytes) -> str:
    return tag.removeprefix(b"Tag=").decode("utf-8", "replace")


def _histogram(cells: Cells) -> Histogram:
    """Add up cells."""
    most = len(highest_values(cells.shape))
    # Sums of float64 are exact up to 2**53, and many times faster than adding one by one.
    counts = np.bincount(cells.index, cells.count, minlength=most).astype(np.int64)
    return Histogram(cells.shape, counts)


def _percentiles(
    parts: Sequence[tuple[Cells, Ints]], start: int, ratios: Sequence[float]
) -> npt.NDArray[np.float64]:
    """Return the percentiles of each second from `start` on, one row a second."""
    shape = parts[0][0].shape
    for cells, _ in parts:
        check_shapes(shape, cells.shape)
    values = highest_values(shape)
    begins = [np.maximum(0, seconds - start) * len(values) for _, seconds in parts]
    place = np.concatenate(
        [
            np.repeat(begin, cells.sizes) + cells.index
            for begin, (cells, _) in zip(begins, parts, strict=True)
        ]
    )
    order = np.argsort(place, kind="stable")
    place = place[order]
    reached = np.cumsum(np.concatenate([cells.count for cells, _ in parts])[order])
    edges = np.searchsorted(place, np.arange(_BLOCK + 1) * len(values))
    totals = np.concatenate(([0], reached))[edges]
    n = np.diff(totals)
    found = np.full((_BLOCK, len(ratios)), np.nan)
    filled = np.flatnonzero(n)
    for column, ratio in enumerate(ratios):
        rank = np.maximum(1, np.ceil(ratio * n[filled] - 1e-9)).astype(np.int64)
        at = np.searchsorted(reached, totals[filled] + rank)
        found[filled, column] = values[place[at] % len(values)]
    return found
