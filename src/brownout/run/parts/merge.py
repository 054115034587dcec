"""Make the files of a run of those of its generators, which lie in `parts/<index>/`.

They are remade whenever a run is analysed; the parts are what was measured. Every file is written
beside its place and moved there.
"""

import contextlib
import csv
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from brownout.base.files import SHARED, replacing
from brownout.run.csvfile import read_rows
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.metadata import read_json, write_json
from brownout.run.parts import latency, ledger, rows
from brownout.run.parts.counts import added_file, write_table
from brownout.run.parts.paths import FACTS, part_directories
from brownout.run.parts.summary import join_summaries
from brownout.run.shape import check_generator, check_parts
from brownout.run.table import BUCKETS_PER_S, OUTCOME_COLUMNS, SERIES_COLUMNS

__all__ = ["ERRORS", "GENERATOR", "facts_of", "merge", "merge_ledger", "merge_load"]

ERRORS = ("t", "stream", "op", "cause", "code", "n")
GENERATOR = ("t", "lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb", "goroutines")
_LANES = ("t", "lane", "offered", "ok", "bad", "pending")


def facts_of(directory: Path) -> dict[str, Any]:
    """Return `parts.json` of a run; empty for a run of one generator."""
    path = directory / FACTS
    if not path.is_file():
        return {}
    facts = read_json(path)
    check_parts(facts)
    return facts


def merge(directory: Path) -> None:
    """Make all files of a run again; a run of one generator is left as it is."""
    if facts_of(directory):
        merge_load(directory)
        merge_ledger(directory)


def merge_load(directory: Path) -> dict[str, Any]:
    """Make all but the ledger; return what `generator.json` says."""
    facts, parts = facts_of(directory), _parts(directory)
    summaries = [_summary(part / "generator.json") for part in parts]
    done = added_file([part / "series.csv" for part in parts], SERIES_COLUMNS)
    born = added_file([part / "outcomes.csv" for part in parts], OUTCOME_COLUMNS)
    for name, table, columns in (
        ("series.csv", done, SERIES_COLUMNS), ("outcomes.csv", born, OUTCOME_COLUMNS)
    ):  # fmt: skip
        with _text(directory / name) as file:
            write_table(file, table, columns)
    summary = join_summaries(summaries, facts)
    _merge_rows(directory, parts, len(done))
    _merge_latency(directory, parts, math.inf if summary["ended"] else len(done) / BUCKETS_PER_S)
    write_json(directory / "generator.json", summary)
    return summary


def merge_ledger(directory: Path) -> None:
    """Make `ledger.ndjson`, unless no generator kept one."""
    paths = [part / "ledger.ndjson" for part in _parts(directory)]
    if not any(path.exists() for path in paths):
        return
    with _text(directory / "ledger.ndjson") as file:
        for line in ledger.join([read_ledger_lines(path) for path in paths]):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _parts(directory: Path) -> list[Path]:
    return part_directories(directory, int(facts_of(directory)["of"]))


def _summary(path: Path) -> dict[str, Any]:
    summary = read_json(path) if path.is_file() else {}
    check_generator(summary)
    return summary


def _merge_rows(directory: Path, parts: list[Path], buckets: int) -> None:
    def each(name: str, header: tuple[str, ...]) -> list[Iterator[list[str]]]:
        return [read_rows(part / name, header) for part in parts]

    made: dict[str, tuple[tuple[str, ...], Iterable[list[str]]]] = {
        "errors.csv": (ERRORS, rows.add_errors(each("errors.csv", ERRORS), buckets)),
        "lanes.csv": (_LANES, rows.add_lanes(each("lanes.csv", _LANES), buckets)),
        "generator.csv": (GENERATOR, rows.worst_seconds(each("generator.csv", GENERATOR))),
    }
    for name, (header, merged) in made.items():
        with _text(directory / name) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(merged)


def _merge_latency(directory: Path, parts: list[Path], end: float) -> None:
    paths = [part / "latency.hlog" for part in parts]
    with replacing(directory / "latency.hlog", SHARED) as beside, beside.open("wb") as file:
        file.write(latency.header_of(paths[0]))
        for line in latency.add_lines([latency.read_lines(path) for path in paths], end):
            file.write(line.text())


@contextlib.contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    with replacing(path, SHARED) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        yield file
