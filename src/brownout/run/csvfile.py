"""Read the generator's CSV files fast: a day of 0.1 s buckets is millions of rows.

The generator writes plain CSV: a header, no quotes, whole numbers but for `t`, which has one
decimal. So a file becomes an array of integers by replacing each `,stream,op,` with its index
and dropping the points of `t`; numpy reads the rest. A torn last line, which a killed writer
leaves, is dropped; anything else that is not as it should be is an error that names the file.
"""

import csv
import re
import warnings
from collections.abc import Iterator, Sequence
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
_COUNT = np.dtype(np.int32)
_MOST = {4: np.iinfo(np.int32).max, 8: 1 << 53}
#: The columns that `read_rows` takes for text.
TEXT = ("stream", "op", "cause", "code", "lane", "node", "shard", "election")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
#: Microseconds of an hour do not fit into 32 bits.
_WIDE = {"max_us": np.dtype(np.int64)}


def read_table(path: Path, columns: Sequence[str]) -> Table:
    """Read a file of counts, `t,stream,op,<columns>`, with a row a stream and operation a bucket.

    A bucket whose rows are not all there is left out, since it is still being written; without
    the file there are no buckets. Raises `RunDirectoryError` for a file of another shape.
    """
    if not path.exists():
        return Table((), frozen({name: np.zeros((0, 0), _COUNT) for name in columns}))
    try:
        with path.open("rb") as file:
            whole = _check_header(path, file, ("t", "stream", "op", *columns))
            keys, parts = _parts(path, file, columns) if whole else ((), [])
    except OSError as error:
        raise RunDirectoryError(f"{path.name}: cannot be read: {error.strerror}") from error
    joined = {name: _join(parts, i, len(keys), name) for i, name in enumerate(columns)}
    return Table(keys, frozen(joined))


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


def _parts(
    path: Path, file: BinaryIO, columns: Sequence[str]
) -> tuple[tuple[Key, ...], list[list[CountArray]]]:
    """Return the keys and, for each chunk of the file, its columns as flat arrays."""
    keys: tuple[Key, ...] = ()
    labels: list[bytes] = []
    parts: list[list[CountArray]] = []
    bucket, rest = 0, b""
    while chunk := file.read(_CHUNK):
        text = rest + chunk
        keys = keys or _first_keys(text)
        labels = labels or [f",{stream},{op},".encode() for stream, op in keys]
        cut = _whole_buckets(text, len(keys))
        text, rest = text[:cut], text[cut:]
        if not text:
            continue
        rows = _numbers(path, text, labels, len(columns) + 2)
        _check_order(path, rows, bucket, len(keys))
        _check_range(path, rows, columns)
        bucket += len(rows) // len(keys)
        parts.append([rows[:, 2 + i].astype(_WIDE.get(c, _COUNT)) for i, c in enumerate(columns)])
    return keys, parts


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
    surplus = text.count(b"\n") % rows
    cut = text.rfind(b"\n") + 1
    for _ in range(surplus):
        cut = text.rfind(b"\n", 0, cut - 1) + 1
    return cut


def _numbers(path: Path, text: bytes, labels: Sequence[bytes], width: int) -> npt.NDArray[np.int64]:
    """Turn whole rows into integers: bucket, key, counts."""
    for index, label in enumerate(labels):
        text = text.replace(label, b",%d," % index)
    rows = text.count(b"\n")
    numbers = _parse(text.replace(b".", b"").replace(b"\n", b","))
    if numbers is None or len(numbers) != rows * width:
        raise _malformed(path, "a row that is not of whole numbers", width + 1)
    return numbers.reshape(rows, width)


def _parse(text: bytes) -> npt.NDArray[np.int64] | None:
    """Parse comma-separated integers; None where something else is among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's word for unmatched data
        try:
            return np.fromstring(text, dtype=np.int64, sep=",")
        except (ValueError, DeprecationWarning):
            return None


def _check_order(path: Path, rows: npt.NDArray[np.int64], bucket: int, keys: int) -> None:
    """Every bucket follows the one before, and its rows come in the first one's order."""
    number = np.arange(len(rows))
    wrong = (rows[:, 0] != bucket + number // keys) | (rows[:, 1] != number % keys)
    if wrong.any():
        line = bucket * keys + int(np.argmax(wrong)) + 2
        raise RunDirectoryError(
            f"{path.name}: line {line} is out of order: wanted a row for every stream and "
            "operation in every bucket of 0.1 s, none left out"
        )


def _check_range(path: Path, rows: npt.NDArray[np.int64], columns: Sequence[str]) -> None:
    """Every count is one that its column can hold."""
    for place, name in enumerate(columns, 2):
        most = _MOST[_WIDE.get(name, _COUNT).itemsize]
        if rows[:, place].max(initial=0) > most or rows[:, place].min(initial=0) < 0:
            raise _malformed(path, f"`{name}` is not of 0 to {most:,} everywhere", len(columns) + 3)


def _join(parts: list[list[CountArray]], column: int, keys: int, name: str) -> CountArray:
    """Join one column of all chunks to an array of buckets by keys, freeing what it joins."""
    if not parts:
        return np.zeros((0, keys), _WIDE.get(name, _COUNT))
    joined = np.concatenate([part[column] for part in parts])
    for part in parts:
        part[column] = joined[:0]
    return joined.reshape(-1, keys)


def _malformed(path: Path, found: str, fields: int) -> RunDirectoryError:
    return RunDirectoryError(f"{path.name}: {found}; wanted rows of {fields} fields")
