"""Response times: read `latency.hlog`, add histograms, ask them for percentiles.

The file is an HdrHistogram interval log (format 1.3, payload V2, µs), a line a second and tag:

    Tag=app/read,12.000,1.000,4.351,HISTFAAAA…

The lines are taken apart here: `hdrhistogram`'s own reader has no way to choose a tag, adds the
base time to each start, and ends at a torn last line with an exception. `hdr` decodes them.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError
from brownout.run.hdr import Cells, Shape, check_shapes, decode, highest_values
from brownout.run.shape import is_time

__all__ = ["Histogram", "LatencyLog", "is_response", "read_hlog"]

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
_SPACE, _COMMA, _NEWLINE = b" ,\n"
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
    tags, spans = _Tags(wanted), _Spans()
    tag, span, places, sizes = map(np.concatenate, zip(*_parts(path, tags, spans), strict=True))
    times = np.array(spans.times).reshape(-1, 2)
    found = {}
    for name, number in tags.numbers.items():
        here = np.flatnonzero(tag == number)
        stored = _Stored(path, places[here], sizes[here])
        starts, lengths = times[span[here]].T
        found[name] = Intervals(starts, lengths, stored)
    return LatencyLog(found)


class _Tags(dict[bytes, int]):
    """What lines begin with, to the first comma, and for each twice the number of the tag.

    It is 1 more where a line has no tag, and -1 for a line that says nothing or is not wanted.
    """

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        super().__init__()
        self._wanted = wanted
        self.numbers: dict[str, int] = {}

    def __missing__(self, field: bytes) -> int:
        bare = not (field.startswith(b"Tag=") and field.endswith(b","))
        tag = "" if bare else field[4:-1].decode("utf-8", "replace")
        says_nothing = field.startswith((b"#", b'"')) or not field.strip()
        self[field] = -1
        if not says_nothing and self._wanted(tag):
            self[field] = 2 * self.numbers.setdefault(tag, len(self.numbers)) + bare
        return self[field]


class _Spans(dict[bytes, int]):
    """The number of each `start,length,`: lines of other tags repeat it, and it is parsed once."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[float, float]] = []

    def __missing__(self, fields: bytes) -> int:
        start, length, _ = fields.split(b",")
        times = float(start), float(length)
        if not all(map(is_time, times)):
            raise ValueError("a run has no such time")
        self[fields] = len(self.times)
        self.times.append(times)
        return self[fields]


def _parts(path: Path, tags: _Tags, spans: _Spans) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Yield what the lines that are wanted say, part by part of the file; whole lines only."""
    place, rest = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            cut = text.rfind(b"\n") + 1
            text, rest = text[:cut], text[cut:]
            try:
                yield _part(text, place, tags, spans)
            except ValueError as error:
                raise _malformed(path, text, place, tags) from error
            place += cut
    yield _part(b"", place, tags, spans)


def _part(text: bytes, place: int, tags: _Tags, spans: _Spans) -> tuple[Ints, Ints, Ints, Ints]:
    """Return what the lines that are wanted say; `text` is at `place` of its file.

    That is the numbers of the tag and of the interval, and where in the file the payload is and
    of what size. Raises ValueError for a line of another form.
    """
    raw = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(raw == _NEWLINE)
    begins = np.append(0, ends + 1)[: len(ends)]
    commas = np.append(np.flatnonzero(raw == _COMMA), [len(text)] * 4)
    first = np.searchsorted(commas, begins)
    after = np.minimum(commas[first], ends) + 1
    tag = _told(tags, text, begins, after)
    wanted = np.flatnonzero(tag >= 0)
    tag, ends, first = tag[wanted], ends[wanted], first[wanted]
    bare = tag & 1
    begins = np.where(bare, begins[wanted], after[wanted])
    longest, payload = (commas[first - bare + n] + 1 for n in (2, 3))
    if (payload > ends).any():
        raise ValueError("a line without four fields")
    span = _told(spans, text, begins, longest)
    for line in np.flatnonzero(raw[ends - 1] <= _SPACE).tolist():
        ends[line] = payload[line] + len(text[payload[line] : ends[line]].rstrip())
    return tag >> 1, span, place + payload, ends - payload


def _told(numbers: Mapping[bytes, int], text: bytes, begins: Ints, ends: Ints) -> Ints:
    """Return the number of each piece of text between two places."""
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    return np.array([numbers[text[begin:end]] for begin, end in places], np.int64)


def _malformed(path: Path, text: bytes, place: int, tags: _Tags) -> RunDirectoryError:
    """Name the first line that is no interval; it is in `text`, which is at `place` of its file."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    first = next(n for n, line in enumerate(lines) if not _is_readable(line, tags))
    with path.open("rb") as file:
        number = file.read(place).count(b"\n") + first + 1
    shown = lines[first][:60].rstrip().decode("utf-8", "replace")
    return RunDirectoryError(f"latency.hlog: line {number} is no interval: `{shown}`")


def _is_readable(line: bytes, tags: _Tags) -> bool:
    try:
        _part(line, 0, tags, _Spans())
    except ValueError:
        return False
    return True


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
