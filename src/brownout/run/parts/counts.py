"""Add up the series of several generators, bucket by bucket.

A bucket is there only where every generator has it: a sum without one of them is too small.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from brownout.base.errors import RunDirectoryError
from brownout.run.csvfile import read_table
from brownout.run.table import Table, frozen

__all__ = ["add_tables", "added_file", "bucket_text", "write_table"]

#: Buckets that are written at once.
_CHUNK = 10_000


def add_tables(one: Table, other: Table) -> Table:
    """Return the sum of two tables over the buckets that both have; `max_us` is the larger one.

    Raises `RunDirectoryError` where they are not of the same streams and operations.
    """
    ends = min(len(one), len(other))
    if ends and one.keys != other.keys:
        raise RunDirectoryError(
            f"the generators' series are of different streams: {one.keys} and {other.keys}"
        )
    columns = {
        name: (np.maximum if name == "max_us" else np.add)(
            values[:ends].astype(np.int64), other.columns[name][:ends]
        )
        for name, values in one.columns.items()
    }  # fmt: skip
    return Table(one.keys or other.keys, frozen(columns))


def added_file(paths: Iterable[Path], columns: Sequence[str]) -> Table:
    """Read one file after the other and add them up: two of them are in memory at a time."""
    total: Table | None = None
    for path in paths:
        table = read_table(path, columns)
        total = table if total is None else _cut(total, table)
    if total is None:
        raise RunDirectoryError(f"there is no file to add: wanted {', '.join(columns)} of parts")
    return total


def _cut(total: Table, table: Table) -> Table:
    """Add a table; one without a bucket, of a generator that said nothing, leaves none."""
    if not len(total) or not len(table):
        known = total.keys or table.keys
        return Table(known, frozen({n: v[:0] for n, v in total.columns.items()}))
    return add_tables(total, table)


def write_table(file: TextIO, table: Table, columns: Sequence[str]) -> None:
    """Write a table as the generator does: `t,stream,op,…`, a row a key in every bucket."""
    file.write(",".join(("t", "stream", "op", *columns)) + "\n")
    heads = [f",{stream},{op}," for stream, op in table.keys]
    for start in range(0, len(table), _CHUNK):
        block = np.stack([table.columns[name][start : start + _CHUNK] for name in columns], axis=2)
        for bucket, rows in enumerate(block.tolist(), start):
            t = bucket_text(bucket)
            file.writelines(
                f"{t}{head}{','.join(map(str, row))}\n"
                for head, row in zip(heads, rows, strict=True)
            )


def bucket_text(bucket: int) -> str:
    """Return the start of a bucket in seconds, with one decimal."""
    return f"{bucket // 10}.{bucket % 10}"
