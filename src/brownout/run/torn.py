"""Which raw files of a run end before the run did: what they hold is right, and not all of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from brownout.impact.data import RunData
from brownout.run.directory import RunDirectory
from brownout.run.table import BUCKETS_PER_S, Table, bucket_of

__all__ = ["torn_files"]

#: The last bucket is discarded, even where the load ended on its very edge.
_DISCARDED = 1


def torn_files(directory: RunDirectory, data: RunData, generator: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each file that is not whole; none for a generator that died anyway."""
    if generator.get("ended") is not True:
        return []
    return [*_broken_lines(directory), *_short(data, float(generator.get("end_t") or 0.0))]


def _broken_lines(directory: RunDirectory) -> Iterator[str]:
    """Every file ends with a whole line."""
    for path in (
        directory.series, directory.outcomes, directory.errors, directory.lanes,
        directory.latency, directory.generator_series, directory.events, directory.ledger_lines,
    ):  # fmt: skip
        if path.is_file() and not _ends_with_newline(path):
            yield f"{path.name} ends in the middle of a line"


def _short(data: RunData, end: float) -> Iterator[str]:
    """The files reach as far as the load did."""
    tables = {"series.csv": data.series.completion, "outcomes.csv": data.series.outcomes}
    for name, table in tables.items():
        if len(table) + _DISCARDED < bucket_of(end):
            yield f"{name} ends at {table.end:.1f} s, the load at {end:.1f} s"
    last = _last_ok(data.series.completion)
    if last is not None and data.latency.end <= last:
        yield f"latency.hlog ends at {data.latency.end:.1f} s, the last answer came at {last:.1f} s"
    if not any(event.type == "phase" and event.name == "load_stopped" for event in data.events):
        yield "events.ndjson does not say that the load was stopped"


def _last_ok(table: Table) -> float | None:
    """Return when the last bucket began in which anything was served."""
    served = np.flatnonzero(table.total("total", "ok"))
    return int(served[-1]) / BUCKETS_PER_S if len(served) else None


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if not file.tell():
            return True  # empty: what it lacks is found elsewhere
        file.seek(-1, 2)
        return file.read(1) == b"\n"
