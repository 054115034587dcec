"""Which raw files of a run end before the run did: what they hold is right, and not all of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from brownout.measure.data import RunData
from brownout.run.directory import RunDirectory
from brownout.run.latency import LatencyLog
from brownout.run.load import read_load
from brownout.run.metadata import read_json
from brownout.run.parts.paths import part_directories
from brownout.run.series import Series
from brownout.run.table import BUCKETS_PER_S, Table, bucket_of

__all__ = ["torn_files"]

#: The last bucket is discarded, even where the load ended on its very edge.
_DISCARDED = 1


def torn_files(directory: RunDirectory, data: RunData, generator: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each file that is not whole; none for a generator that died anyway.

    With several generators each one's own files are looked at too: the sum of all does not show
    what one of them is missing.
    """
    if generator.get("ended") is not True:
        return []
    torn = [*_broken_lines(directory), *_short(data.series, data.latency, _end(generator))]
    if not any(event.type == "phase" and event.name == "load_stopped" for event in data.events):
        torn.append("events.ndjson does not say that the load was stopped")
    return [*torn, *_of_parts(directory.path, len(generator.get("parts") or (generator,)))]


def _of_parts(run: Path, generators: int) -> Iterator[str]:
    """Look at the files of each of several generators."""
    for path in part_directories(run, generators):
        if path != run:
            part, place = RunDirectory(path), path.relative_to(run)
            load, end = read_load(path), _end(read_json(part.generator))
            for torn in (*_broken_lines(part), *_short(load.series, load.latency, end)):
                yield f"{place}/{torn}"


def _end(generator: Mapping[str, Any]) -> float:
    return float(generator.get("end_t") or 0.0)


def _broken_lines(directory: RunDirectory) -> Iterator[str]:
    """Every file ends with a whole line."""
    for path in (
        directory.series, directory.outcomes, directory.errors, directory.lanes,
        directory.latency, directory.generator_series, directory.events, directory.ledger_lines,
        directory.primaries,
    ):  # fmt: skip
        if path.is_file() and not _ends_with_newline(path):
            yield f"{path.name} ends in the middle of a line"


def _short(series: Series, latency: LatencyLog, end: float) -> Iterator[str]:
    """The generator's files reach as far as its load did."""
    tables = {"series.csv": series.completion, "outcomes.csv": series.outcomes}
    for name, table in tables.items():
        if len(table) + _DISCARDED < bucket_of(end):
            yield f"{name} ends at {table.end:.1f} s, the load at {end:.1f} s"
    last = _last_ok(series.completion)
    if last is not None and latency.end <= last:
        yield f"latency.hlog ends at {latency.end:.1f} s, the last answer came at {last:.1f} s"


def _last_ok(table: Table) -> float | None:
    """Return when the last bucket began in which anything was served."""
    served = np.flatnonzero(table.total("total", "ok"))
    return int(served[-1]) / BUCKETS_PER_S if len(served) else None


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if not file.tell():
            return True  # empty: what is missing is found elsewhere
        file.seek(-1, 2)
        return file.read(1) == b"\n"
