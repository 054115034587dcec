"""Read the generator's CSV files fast: a day of 0.1 s buckets is millions of rows.

The generator writes plain CSV: a header, no quotes, whole numbers but for `t`, which has one
decimal, and every row has as many fields. So numpy finds the ends of all fields at once, and adds
up a column's digits place by place. A torn last line, which a killed writer leaves, is dropped;
anything else that is not as it should be is an error that names the file.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError
from brownout.run.table import CountArray, Key, Table, frozen

__all__ = ["ERRORS", "GENERATOR", "TEXT", "read_rows", "read_table"]

#: The headers of `errors.csv` and `generator.csv`.
ERRORS = ("t", "stream", "op", "cause", "code", "n")
GENERATOR = ("t", "lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb", "goroutines")

#: Bytes taken at once: what fits into a processor's cache is gone through several times faster.
_CHUNK = 1 << 18
_MOST_COUNTED = np.iinfo(np.int32).max
#: Microseconds of an hour do not fit into 32 bits.
_MOST = {"max_us": 1 << 53}
_DIGITS = 16
_COMMA, _POINT, _ZERO, _NEWLINE = b",.0\n"
#: Before a count in a row: `t`, stream, op.
_BEFORE = 3
#: The columns that `read_rows` takes for text.
TEXT = ("stream", "op", "cause", "code", "lane", "node", "shard", "election")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


def read_table(path: Path, columns: Sequence[str], wanted: Sequence[str] | None = None) -> Table:
    """Read a file of counts, `t,stream,op,<columns>`, with a row a stream and operation a bucket.

    The table has the columns that are `wanted`, by default all; the fields of the others are
    counted but not read. A bucket whose rows are not all there is left out, since it is still
    being written; without the file there are no buckets. Raises `RunDirectoryError` for a file of
    another shape.
    """
    wanted = columns if wanted is None else wanted
    if not path.exists():
        return Table((), frozen(_none(wanted)))
    try:
        with path.open("rb") as file:
            if not _check_header(path, file, ("t", "stream", "op", *columns)):
                return Table((), frozen(_none(wanted)))
            return _table(path, file, columns, wanted)
    except OSError as error:
        raise RunDirectoryError(f"{path.name}: cannot be read: {error.strerror}") from error


def read_rows(path: Path, header: Sequence[str]) -> Iterator[list[str]]:
    """Yield each whole row of a small CSV file as text, in order; nothing if there is no file.

    Every field holds a number but those of `TEXT`. Raises `RunDirectoryError` for another shape.
    """
    if not path.exists():
        return
    numbers = [place for place, name in enumerate(header) if name not in TEXT]
    with path.open("rb") as file:
        if not _check_header(path, file, header):
            return
        for number, fields in enumerate(csv.reader(_whole_lines(file)), 2):
            if len(fields) != len(header):
                raise _malformed(path, f"line {number} has {len(fields)} fields", len(header))
            if not all(_NUMBER.fullmatch(fields[place]) for place in numbers):
                raise _malformed(path, f"line {number} has no number where one is", len(header))
            yield fields


def _whole_lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file; not a last one without an end: its writer was killed."""
    for line in file:
        if not line.endswith(b"\n"):
            return
        yield line.decode("utf-8", "replace")


def _check_header(path: Path, file: BinaryIO, header: Sequence[str]) -> bool:
    """Return whether the header is there to its end; not yet, while it is being written."""
    line = file.readline()
    found, wanted = line.decode("utf-8", "replace").strip(), ",".join(header)
    if found and found != wanted and not wanted.startswith(found):
        raise RunDirectoryError(f"{path.name}: found the header `{found}`, wanted `{wanted}`")
    return line.endswith(b"\n")


def _none(columns: Sequence[str]) -> dict[str, CountArray]:
    return {name: np.zeros((0, 0), np.int8) for name in columns}


def _table(path: Path, file: BinaryIO, columns: Sequence[str], wanted: Sequence[str]) -> Table:
    """Read all rows after the header, into arrays with room for as many as there can be.

    What is not filled of them takes no memory. What is written meanwhile is left out.
    """
    begin = file.tell()
    left = file.seek(0, SEEK_END) - begin
    file.seek(begin)
    found = {name: _Column(left // (2 * (_BEFORE + len(columns)))) for name in wanted}
    keys: tuple[Key, ...] = ()
    labels: list[bytes] = []
    rows, rest = 0, b""
    while chunk := file.read(min(_CHUNK, left)):
        left -= len(chunk)
        text = rest + chunk
        keys = keys or _first_keys(text)
        labels = labels or [f",{stream},{op}".encode() for stream, op in keys]
        cut = _whole_buckets(text, len(keys))
        text, rest = text[:cut], text[cut:]
        if not text:
            continue
        raw = np.frombuffer(text, np.uint8)
        ends = _ends_of_fields(path, raw, _BEFORE + len(columns))
        _check_order(path, raw, ends, labels, rows // len(keys))
        for name, column in found.items():
            place = _BEFORE + columns.index(name)
            column.add(_counts(path, raw, ends, place, name))
        rows += ends.shape[1]
    shape = (rows // max(1, len(keys)), len(keys))
    return Table(keys, frozen({name: it.counts.reshape(shape) for name, it in found.items()}))


class _Column:
    """Counts in the smallest type that holds them, up to the largest so far."""

    def __init__(self, most: int) -> None:
        self._room: CountArray = np.empty(most, np.int8)
        self._rows = 0

    def add(self, counts: CountArray) -> None:
        """Append counts, none below 0."""
        needed = np.min_scalar_type(-1 - int(counts.max(initial=0)))
        if needed.itemsize > self._room.itemsize:
            wider = np.empty(len(self._room), needed)
            wider[: self._rows] = self.counts
            self._room = wider
        self._room[self._rows : self._rows + len(counts)] = counts
        self._rows += len(counts)

    @property
    def counts(self) -> CountArray:
        """Everything that was added."""
        return self._room[: self._rows]


def _first_keys(text: bytes) -> tuple[Key, ...]:
    """Return the stream and operation of every row of the first bucket, if that is whole."""
    keys: list[Key] = []
    first = text.split(b",", 1)[0]
    start = 0
    while (end := text.find(b"\n", start)) >= 0:
        fields = text[start:end].split(b",", 3)
        if len(fields) < 4 or fields[0] != first:
            return tuple(keys)
        keys.append((fields[1].decode("utf-8", "replace"), fields[2].decode("utf-8", "replace")))
        start = end + 1
    # Only one bucket was begun: whether it is whole cannot be known until the next one begins.
    return ()


def _whole_buckets(text: bytes, rows: int) -> int:
    """Return where the last whole bucket of `text` ends; `text` begins with a bucket."""
    if not rows:
        return 0
    # numpy counts what is so frequent ten times faster than bytes do.
    surplus = np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE) % rows
    cut = text.rfind(b"\n") + 1
    for _ in range(surplus):
        cut = text.rfind(b"\n", 0, cut - 1) + 1
    return cut


def _ends_of_fields(path: Path, raw: Bytes, width: int) -> Places:
    """Return where each field ends, a row a field and a column a line."""
    # Nothing in a field sorts below the comma; the end of a line does.
    ends = np.flatnonzero(raw <= _COMMA)
    marks = raw[ends]
    lines = np.count_nonzero(marks == _NEWLINE)
    commas = np.count_nonzero(marks == _COMMA)
    aligned = lines * width == len(ends) and (marks[width - 1 :: width] == _NEWLINE).all()
    if not aligned or lines + commas != len(ends):
        raise _malformed(path, "a row with more or fewer fields, or with a space", width)
    return np.ascontiguousarray(ends.reshape(lines, width).T)


def _check_order(
    path: Path, raw: Bytes, ends: Places, labels: Sequence[bytes], bucket: int
) -> None:
    """Every bucket follows the one before, and its rows come in the first one's order."""
    keys = len(labels)
    till = ends[0]
    since = np.concatenate(([0], ends[-1, :-1] + 1))
    firsts = till[::keys] - 2  # where the whole seconds of a bucket end
    seconds = _whole_numbers(raw, since[::keys], firsts)
    if seconds is None:
        raise _malformed(path, "a row whose `t` is no number", len(ends))
    tenths = 10 * seconds.astype(np.int64) + _digits(raw, firsts + 1)
    wrong = np.empty((len(tenths), keys), np.bool_)
    wrong[:] = (tenths != bucket + np.arange(len(tenths)))[:, None]
    wrong[:, 0] |= raw[firsts] != _POINT
    wrong |= ~_same_times(raw, since.reshape(-1, keys), (till - since).reshape(-1, keys))
    for place, label in enumerate(labels):
        begins = till[place::keys]
        same = ends[2, place::keys] - begins == len(label)
        if same.any():  # otherwise all of the text may be shorter than the label
            same[same] = _words(raw, len(label))[begins[same]] == label
        wrong[:, place] |= ~same
    if wrong.any():
        line = bucket * keys + int(np.argmax(wrong)) + 2
        raise RunDirectoryError(
            f"{path.name}: line {line} is out of order: wanted a row for every stream and "
            "operation in every bucket of 0.1 s, none left out"
        )


def _same_times(raw: Bytes, begins: Places, lengths: Places) -> npt.NDArray[np.bool_]:
    """Say of each row of a bucket whether its first field is that of the bucket's first row."""
    same: npt.NDArray[np.bool_] = lengths == lengths[:, :1]
    for length in np.unique(lengths[:, 0]).tolist():
        here = lengths[:, 0] == length
        words = _words(raw, length)[np.minimum(begins[here], len(raw) - length)]
        same[here] &= words == words[:, :1]
    return same


def _words(raw: Bytes, length: int) -> npt.NDArray[np.bytes_]:
    """Return what stands in so many bytes from each place on."""
    return np.ndarray((len(raw) - length + 1,), f"S{length}", raw, strides=(1,))


def _counts(path: Path, raw: Bytes, ends: Places, place: int, name: str) -> CountArray:
    """Return a column; every count is one that it can hold."""
    counts = _whole_numbers(raw, ends[place - 1] + 1, ends[place])
    if counts is None:
        raise _malformed(path, f"a `{name}` that is no whole number", len(ends))
    most = _MOST.get(name, _MOST_COUNTED)
    if counts.max(initial=0) > most:
        raise _malformed(path, f"`{name}` is not of 0 to {most:,} everywhere", len(ends))
    return counts


def _whole_numbers(raw: Bytes, begins: Places, ends: Places) -> CountArray | None:
    """Return the numbers between two places of a text; None where one is none, or far too long."""
    lengths = ends - begins
    longest = int(lengths.max(initial=1))
    if lengths.min(initial=1) < 1 or longest > _DIGITS:
        return None
    digits = _digits(raw, ends - 1)
    highest = digits.max(initial=0)
    numbers: CountArray = digits if longest == 1 else digits.astype(np.int64)
    for power in range(1, longest):
        longer = np.flatnonzero(lengths > power)
        digits = _digits(raw, ends[longer] - 1 - power)
        highest = max(highest, digits.max(initial=0))
        numbers[longer] += digits * np.int64(10**power)
    return numbers if highest <= 9 else None


def _digits(raw: Bytes, places: Places) -> Bytes:
    """Return the digits at some places; what is none wraps around to more than 9."""
    return raw[places] - np.uint8(_ZERO)


def _malformed(path: Path, found: str, fields: int) -> RunDirectoryError:
    return RunDirectoryError(f"{path.name}: {found}; wanted rows of {fields} fields")
