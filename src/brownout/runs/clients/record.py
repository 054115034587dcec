"""What was made of a comparison so far: `clients/<utc time>-<name>` in the runs' folder.

clients.json        the record, written anew after every run
workloads/          the workload of each run
clients.html, .md, figures.json   the page, made of the runs
"""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_directory, replace_file
from brownout.base.redact import redact
from brownout.run.metadata import read_json, write_json
from brownout.runs.clients.clients_file import workload_of
from brownout.runs.clients.spec import Comparison
from brownout.runs.run_set import JUDGED
from brownout.runs.series import last_directory, new_directory, runs_wanted

__all__ = ["ClientsRun", "Record", "last", "new", "open_record"]

FOLDER = "clients"
FILE = "clients.json"


@dataclass(frozen=True, slots=True)
class ClientsRun:
    """One run that is over. `run` is its directory from the record's; empty if none was opened."""

    group: str
    verdict: str
    run: str
    seed: int
    took_s: float


@dataclass(slots=True)
class Record:
    """A comparison in the making; `up` is a lab that it has up, `file` where it was read from."""

    path: Path
    comparison: dict[str, Any]
    file: str
    began: str
    ended: str = ""
    up: str = ""
    runs: list[ClientsRun] = field(default_factory=list)

    def save(self) -> None:
        """Write it, whole or not at all."""
        data = {"schema_version": 1, **asdict(self)}
        del data["path"]
        write_json(self.path / FILE, dict(redact(data)))

    def of(self, group: str) -> list[ClientsRun]:
        """Return the runs of a group of clients, in order."""
        return [each for each in self.runs if each.group == group]

    def is_of(self, comparison: Comparison) -> bool:
        """Whether the file says what it said when this began."""
        return self.comparison == dict(redact(comparison.model_dump(mode="json")))

    def judged(self, group: str) -> int:
        """Return how many runs of a group count."""
        return sum(each.verdict in JUDGED for each in self.of(group))

    def wants(self, comparison: Comparison, group: str) -> int:
        """Return how many runs a group still wants, if each of them counts."""
        verdicts = [each.verdict for each in self.of(group)]
        return runs_wanted(verdicts, comparison.repeats, comparison.again)

    def where(self, path: Path) -> str:
        """Return a path as it is kept: from the record's."""
        return os.path.relpath(path.resolve(), self.path.resolve())

    def workload(self, group: str) -> Path:
        """Return the file of a group's workload."""
        return self.path / "workloads" / f"{group}.yaml"


def new(comparison: Comparison) -> Record:
    """Make the directory of a new comparison, with the workload of each of its groups."""
    path, began = new_directory(FOLDER, comparison.name, "a comparison of clients")
    record = Record(
        path, dict(redact(comparison.model_dump(mode="json"))), str(comparison.path), began
    )
    for group, rows in comparison.groups.items():
        private_directory(record.workload(group).parent)
        text = yaml.safe_dump(workload_of(comparison, rows), sort_keys=False, allow_unicode=True)
        replace_file(record.workload(group), text)
    record.save()
    return record


def open_record(path: Path) -> tuple[Record, Comparison]:
    """Read a comparison as it was when it began; `RunDirectoryError` if it is not one."""
    data = read_json(path / FILE)
    try:
        del data["schema_version"]
        runs = [ClientsRun(**each) for each in data.pop("runs")]
        record = Record(path.absolute(), **data, runs=runs)
        comparison = Comparison.model_validate(record.comparison)
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            f"{path}: is not the record of a comparison of clients: {error}"
        ) from error
    comparison._path = record.path / record.file
    return record, comparison


def last(name: str) -> Record | None:
    """Return the record of the last comparison of this name; None where there is none."""
    path = last_directory(FOLDER, FILE, lambda record: record["comparison"]["name"] == name)
    return None if path is None else open_record(path)[0]
