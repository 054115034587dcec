"""Read the large files of a run by means of the load generator, which reads them fast.

A day of 0.1 s buckets is millions of rows. `loadgen columns` reads what `loadgen` itself wrote
(`loadgen/runfile`), and so does `loadgen merge`.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from brownout.base.binary import VARIABLE, find_loadgen
from brownout.base.errors import GeneratorError, RunDirectoryError

__all__ = ["Columns", "ask_loadgen", "read_columns"]

#: How the load generator exits where it was called wrongly.
_MISUSED = 64
#: Every column begins at a multiple of so many bytes.
_ALIGNED = 8
#: glibc keeps freed memory for later use, but only pieces up to the size of the largest one that
#: was ever freed, and no more than 32 MiB (mallopt(3), M_MMAP_THRESHOLD). Otherwise every array of
#: a long run takes new pages, which is a fifth of the analysis. So we free one this large.
_KEPT = (1 << 25) - (1 << 16)


class Columns(NamedTuple):
    """What a file holds: read-only arrays of one length, and what its rows are of.

    `labels` are `stream,operation` of each row of a bucket, the lanes, or the tags of a log.
    """

    labels: list[str]
    columns: Mapping[str, npt.NDArray[np.number[Any]]]


def read_columns(*paths: Path) -> list[Columns]:
    """Read `series.csv`, `outcomes.csv`, `lanes.csv` and `latency.hlog` of a run: those asked for.

    A file that is not there has no rows, and a last line without an end is left out. Counts are of
    the narrowest type that holds all of a column. Raises `RunDirectoryError` for a malformed file.
    """
    np.empty(_KEPT, np.int8)
    return list(_parts(ask_loadgen("columns", *map(str, paths))))


def ask_loadgen(*words: str, stdin: bytes = b"") -> bytes:
    """Return what a command of the load generator writes, with `stdin` on its stdin.

    Raises `RunDirectoryError` with its own words where it fails, and `GeneratorError` where it does
    not understand the command, because it is of another version.
    """
    binary = str(find_loadgen())
    try:
        done = subprocess.run([binary, *words], input=stdin, capture_output=True)
    except OSError as error:
        raise RunDirectoryError(f"{binary}: cannot be run: {error.strerror}") from error
    if done.returncode == _MISUSED:
        raise GeneratorError(
            f"`{binary}` does not understand `{words[0]}` as this version of brownout means it",
            f"build it again with `make setup`, or unset `{VARIABLE}` if that names another build",
        )
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip()
        raise RunDirectoryError(message or f"`loadgen {words[0]}` ended with {done.returncode}")
    return done.stdout


def _parts(data: bytes) -> Iterator[Columns]:
    """Take apart what `loadgen columns` wrote of each file."""
    place = 0
    while place < len(data):
        end = data.index(b"\n", place) + 1
        head, place = json.loads(data[place:end]), end
        columns = {}
        for name, kind, rows in head["columns"]:
            columns[name] = np.frombuffer(data, f"<{kind}", rows, place)
            place += -(-columns[name].nbytes // _ALIGNED) * _ALIGNED
        yield Columns(head["labels"], columns)
