"""Books in files, and their records with made-up runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.run_builder import RunScript, build_run

from brownout.runs.book import record as records
from brownout.runs.book.book_file import read
from brownout.runs.book.record import BookRun, Capacity, Record
from brownout.runs.book.spec import Book

__all__ = ["BOOK", "add_runs", "record_of", "write_book"]

BOOK: dict[str, Any] = {
    "workload": "lab",
    "capacity": {"sla": ["lookups.read.p99=100ms"]},
    "shares": [0.25],
    "repeats": 5,
    "engines": [
        {"name": "one", "cluster": "lab-mongodb"},
        {"name": "two", "cluster": "lab-etcd"},
    ],
    "faults": [
        {"name": "kill", "experiment": "node-kill"},
        {"name": "handover", "experiment": "stepdown"},
    ],
}


def write_book(home: Path, **settings: Any) -> Path:
    """Write a book into a file; settings replace those of `BOOK`."""
    path = home / "tiny.yaml"
    path.write_text(yaml.safe_dump({**BOOK, **settings}))
    return path


def record_of(home: Path, **settings: Any) -> tuple[Book, Record]:
    """A book and its record, with a capacity of each engine and no run."""
    book = read(str(write_book(home, **settings)))
    record = records.new(book)
    for engine in book.engines:
        record.capacities[engine.name] = Capacity(800.0, "exact", True, "")
    record.save()
    return book, record


def add_runs(
    home: Path, record: Record, engine: str, fault: str, outages: Sequence[float], **script: Any
) -> None:
    """Add a made-up run for each outage, in seconds."""
    for outage_s in outages:
        n = len(record.made)
        run = build_run(
            home / "runs",
            RunScript(
                name=f"20261122T1{n // 60:01}{n % 60:02}00Z-node-kill-{n}", seed=n, rate=100.0,
                duration_s=70.0, outage_s=outage_s, **script,
            ),
        )  # fmt: skip
        record.made.append(BookRun(engine, fault, 0.25, "pass", record.where(run), n, 60.0))
    record.save()
