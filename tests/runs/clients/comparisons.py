"""Comparisons of clients in files, and their records with made-up runs."""

from pathlib import Path
from typing import Any

import yaml
from tests.run_builder import RunScript, build_run

from brownout.runs.clients import record as records
from brownout.runs.clients.clients_file import read
from brownout.runs.clients.record import ClientsRun, Record
from brownout.runs.clients.spec import Comparison

__all__ = ["COMPARISON", "add_run", "record_of", "write_comparison"]

#: The names are those of the streams of made-up runs.
COMPARISON: dict[str, Any] = {
    "cluster": "lab-mongodb",
    "experiment": "stepdown",
    "repeats": 3,
    "clients": [
        {"name": "app", "command": ["pool"], "options": {"ping": True}},
        {"name": "orders", "command": ["pool"], "options": {"ping": True, "recycle": 10}},
    ],
}


def write_comparison(home: Path, **settings: Any) -> Path:
    """Write a comparison into a file; settings replace those of `COMPARISON`."""
    path = home / "tiny.yaml"
    path.write_text(yaml.safe_dump({**COMPARISON, **settings}))
    return path


def record_of(home: Path, **settings: Any) -> tuple[Comparison, Record]:
    """A comparison and its record without a run."""
    comparison = read(str(write_comparison(home, **settings)))
    return comparison, records.new(comparison)


def add_run(home: Path, record: Record, group: str, verdict: str, **script: Any) -> None:
    """Add a made-up run, built from its raw files."""
    n = len(record.runs)
    name = f"20261128T1000{n:02}Z-stepdown-{n}"
    run = build_run(
        home / "runs", RunScript(name=name, seed=n, rate=100.0, duration_s=70.0, **script)
    )
    record.runs.append(ClientsRun(group, verdict, record.where(run), n, 60.0))
    record.save()
