"""Read `lanes.csv` fast: a row for each lane in each bucket makes millions in a day."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError

__all__ = ["LANE_COLUMNS", "Lane", "read_lanes"]

LANE_COLUMNS = ("offered", "ok", "bad", "pending")
_HEADER = ",".join(("t", "lane", *LANE_COLUMNS))
_WIDTH = 2 + len(LANE_COLUMNS)
_CHUNK = 1 << 23
#: No bucket is later than a week after the start: columns go from there to the last.
_LAST = 7 * 24 * 36_000
Ints = npt.NDArray[np.int64]
#: The columns of a lane by name, a value a bucket of 0.1 s from the schedule's start on.
Lane = Mapping[str, Ints]


def read_lanes(path: Path) -> dict[str, Lane]:
    """Return the columns of each lane, in the order of the file; none where there is no file.

    Before its first operation a lane has no rows, and its columns are 0. A torn last line is
    dropped. Raises `RunDirectoryError` for what is not of this shape.
    """
    if not path.exists():
        return {}
    parts: dict[str, list[Ints]] = {}
    with path.open("rb") as file:
        header = file.readline().decode("utf-8", "replace").strip()
        if header and not _HEADER.startswith(header):
            raise RunDirectoryError(f"{path.name}: found the header `{header}`, wanted `{_HEADER}`")
        rest = b""
        while chunk := file.read(_CHUNK):
            whole, _, rest = (rest + chunk).rpartition(b"\n")
            if whole:
                _add(path, whole, parts)
    return {lane: _columns(np.concatenate(found, axis=1)) for lane, found in parts.items()}


def _add(path: Path, text: bytes, parts: dict[str, list[Ints]]) -> None:
    """Add the rows of `text` to their lanes: arrays of bucket, offered, ok, bad, pending."""
    rows = text.count(b"\n") + 1
    fields = text.replace(b"\n", b",").split(b",")
    if len(fields) != rows * _WIDTH:
        raise _malformed(path)
    names = fields[1::_WIDTH]
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    lane = np.fromiter(map(number.__getitem__, names), np.int64, rows)
    try:
        buckets = b",".join(fields[0::_WIDTH]).replace(b".", b"").split(b",")
        columns = [buckets, *(fields[place::_WIDTH] for place in range(2, _WIDTH))]
        table = np.array([np.array(column).astype(np.int64) for column in columns])
    except (ValueError, OverflowError) as error:
        raise _malformed(path) from error
    if table.min(initial=0) < 0 or table[0].max(initial=0) > _LAST:
        raise _malformed(path)
    for name, place in number.items():
        parts.setdefault(name.decode("utf-8", "replace"), []).append(table[:, lane == place])


def _columns(rows: Ints) -> Lane:
    """Lay rows out by bucket."""
    buckets = rows[0]
    columns = {}
    for name, values in zip(LANE_COLUMNS, rows[1:], strict=True):
        columns[name] = np.zeros(int(buckets.max()) + 1, np.int64)
        columns[name][buckets] = values
    return columns


def _malformed(path: Path) -> RunDirectoryError:
    return RunDirectoryError(f"{path.name}: found a row that is not `{_HEADER}` in whole numbers")
