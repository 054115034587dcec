"""Read the small CSV files of a run, which fit into memory as text.

The large ones, `series.csv` and `outcomes.csv`, are read by `brownout.run.columns`.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from brownout.base.errors import RunDirectoryError
from brownout.base.printable import printable

__all__ = ["ERRORS", "GENERATOR", "TEXT", "read_rows"]

#: The headers of `errors.csv` and `generator.csv`.
ERRORS = ("t", "stream", "op", "cause", "code", "n")
GENERATOR = ("t", "lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb", "goroutines")

#: The columns that `read_rows` takes for text.
TEXT = ("stream", "op", "cause", "code", "lane", "node", "shard", "election")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")


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
    """Yield the whole lines, fit for a terminal; a last one without an end was cut short."""
    for line in file:
        if not line.endswith(b"\n"):
            return
        yield printable(line.decode("utf-8", "replace"))


def _check_header(path: Path, file: BinaryIO, header: Sequence[str]) -> bool:
    """Return whether the header is there to its end; not yet, while it is being written."""
    line = file.readline()
    names, wanted = line.decode("utf-8", "replace").strip(), ",".join(header)
    if names and names != wanted and not wanted.startswith(names):
        raise RunDirectoryError(f"{path.name}: found the header `{names}`, wanted `{wanted}`")
    return line.endswith(b"\n")


def _malformed(path: Path, problem: str, fields: int) -> RunDirectoryError:
    return RunDirectoryError(f"{path.name}: {problem}; wanted rows of {fields} fields")
