"""What was explored so far: `explorations/<utc time>-<cluster>` in the runs' folder.

explore.json          the record, written anew after every run
experiments/          the experiment of every schedule that was run
findings/             each finding as an experiment: the shortest schedule that breaks the promise
explore.html, .md     the page
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.base.files import replace_file
from brownout.base.printable import printable
from brownout.base.redact import redact
from brownout.run.directory import EXPLORATIONS
from brownout.run.metadata import read_json
from brownout.runs.explore.coverage import tried_cells
from brownout.runs.explore.draw import Cell
from brownout.runs.explore.schedule import Schedule
from brownout.runs.series import last_directory, new_directory

__all__ = [
    "FILE",
    "SEARCH",
    "Finding",
    "Record",
    "Request",
    "Try",
    "last",
    "new",
    "open_record",
    "parsed",
]

FILE = "explore.json"
#: Why a schedule was run: as drawn, to learn how often it breaks the promise, or to be shortened.
SEARCH, REPEAT, SHRINK = "search", "repeat", "shrink"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for: nothing else may differ where an exploration is continued.

    Of `shares` explorations of one seed beside each other, this one takes every schedule whose
    number leaves the remainder `share`.
    """

    cluster: str
    seed: int
    repeats: int = 5
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    longest_s: float = 60.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    share: int = 0
    shares: int = 1


@dataclass(frozen=True, slots=True)
class Try:
    """One run that is over.

    `number` is that of the schedule that was drawn, `moments` as in `coverage.happened`, `broken`
    what each oracle saw. `run` is its directory from the record's; empty if none was opened.
    Without `read_back` it is unknown what became of acknowledged writes. `took_s` counts from the
    end of the run before, so it includes repairs and waits.
    """

    number: int
    purpose: str
    schedule: tuple[Mapping[str, Any], ...]
    attempt: int
    verdict: str
    run: str
    took_s: float
    moments: tuple[str, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    read_back: bool = True

    @property
    def cells(self) -> list[Cell]:
        """What of the coverage it tried."""
        return tried_cells(Schedule.of(self.schedule), self.moments) if self.moments else []

    @property
    def is_judged(self) -> bool:
        """Whether it says something: an oracle was violated, or every one had all it needs."""
        whole = bool(self.moments) and all(self.moments) and self.read_back
        return bool(self.broken) or whole


@dataclass(slots=True)
class Finding:
    """A schedule that broke the promise.

    `hits` of `judged` runs of it broke it again, and `shrunk_hits` of `shrunk_judged` of the
    shortest, `shrunk`. `variants` are schedules of as few steps that broke it too, on the way to
    that or found later, and `seen_again` the numbers of later schedules that contain one of them.
    `open` says why it is not fully shrunk. `experiment` is its file from the record's.
    """

    number: int
    oracle: str
    words: str
    schedule: list[dict[str, Any]]
    shrunk: list[dict[str, Any]]
    run: str = ""
    hits: int = 0
    judged: int = 0
    shrunk_hits: int = 0
    shrunk_judged: int = 0
    variants: list[list[dict[str, Any]]] = field(default_factory=list)
    seen_again: list[int] = field(default_factory=list)
    open: str = ""
    experiment: str = ""

    def join(self, other: "Finding") -> None:
        """Take in another finding that came down to the same."""
        self.variants += [each for each in other.variants if each not in self.variants]
        again = {*self.seen_again, *other.seen_again, other.number} - {self.number}
        self.seen_again = sorted(again)

    def explains(self, oracle: str, schedule: Schedule) -> bool:
        """Whether a schedule that violated `oracle` contains what this finding came down to."""
        variants = map(Schedule.of, self.variants)
        return self.oracle == oracle and any(schedule.contains(each) for each in variants)

    def is_same_as(self, other: "Finding") -> bool:
        """Whether both were shrunk to the same faults, roles and moments."""
        if self.oracle != other.oracle or not (self.variants and other.variants):
            return False
        return Schedule.of(self.shrunk).faults == Schedule.of(other.shrunk).faults


@dataclass(slots=True)
class Record:
    """An exploration in the making; `up` is a lab that it has up, `server` what was explored.

    Where it was gathered from shares, `gathered` has the numbers of those that there were, from 1
    on, and `unfinished` those of them that are not over.
    """

    path: Path
    request: Request
    began: str
    budget_s: float = 0.0
    ended: str = ""
    up: str = ""
    server: str = ""
    database: str = ""
    space: dict[str, Any] = field(default_factory=dict)
    tries: list[Try] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    gathered: list[int] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    #: The tries as they were written before: they do not change, and there may be thousands.
    _lines: list[str] = field(default_factory=list, repr=False, compare=False)

    def save(self) -> None:
        """Write it, whole or not at all."""
        self._lines += [
            json.dumps(redact(asdict(each)), ensure_ascii=False, allow_nan=False)
            for each in self.tries[len(self._lines) :]
        ]
        rest = json.dumps(self._without_tries(), indent=2, ensure_ascii=False, allow_nan=False)
        tries = ",\n".join(self._lines)
        text = f'{rest.removesuffix("}").rstrip()},\n  "tries": [\n{tries}\n  ]\n}}\n'
        replace_file(self.path / FILE, text)

    def document(self) -> dict[str, Any]:
        """Return it as JSON data, without secrets."""
        return {**self._without_tries(), "tries": [redact(asdict(each)) for each in self.tries]}

    def _without_tries(self) -> dict[str, Any]:
        data = asdict(replace(self, tries=[], _lines=[]))
        for name in ("path", "tries", "_lines"):
            del data[name]
        return {"schema_version": 1, **redact(data)}

    @property
    def spent_s(self) -> float:
        """The seconds that its runs took."""
        return sum(each.took_s for each in self.tries)

    @property
    def is_incomplete(self) -> bool:
        """Whether it was gathered and a share is missing or not over."""
        return bool(self.gathered) and bool(self.missing or self.unfinished)

    @property
    def missing(self) -> list[int]:
        """The numbers of the shares that it was not gathered from."""
        return [n for n in range(1, self.request.shares + 1) if n not in self.gathered]

    @property
    def searched(self) -> list[Try]:
        """The runs of schedules as they were drawn."""
        return [each for each in self.tries if each.purpose == SEARCH]

    def of(self, number: int, purpose: str, schedule: Schedule) -> list[Try]:
        """Return the runs of a schedule for one purpose, in order."""
        document = tuple(schedule.document())
        return [
            each for each in self.tries
            if (each.number, each.purpose) == (number, purpose) and each.schedule == document
        ]  # fmt: skip

    def where(self, path: Path) -> str:
        """Return a path as it is kept: from the record's."""
        return os.path.relpath(path.resolve(), self.path.resolve())

    @property
    def cells(self) -> Iterator[Cell]:
        """Everything of the coverage that was tried."""
        return (cell for each in self.tries for cell in each.cells)


def new(request: Request, budget_s: float, path: Path | None = None) -> Record:
    """Make the directory of a new exploration; without a path, one with the time in its name."""
    path, began = new_directory(EXPLORATIONS, Path(request.cluster).stem, "an exploration", path)
    record = Record(path, request, began, budget_s)
    record.save()
    return record


def open_record(path: Path) -> Record:
    """Read an exploration; `RunDirectoryError` if there is none."""
    return _record(read_json(path / FILE), path, str(path))


def parsed(text: bytes, path: Path, where: str) -> Record:
    """Return a record that was read from `where` and is to be kept at `path`.

    Raises `RunDirectoryError` for anything else.
    """
    try:
        data = printable(json.loads(text))
    except ValueError as error:
        raise RunDirectoryError(f"{where}: is not JSON: {error}") from error
    return _record(data, path, where)


def _record(data: dict[str, Any], path: Path, where: str) -> Record:
    try:
        del data["schema_version"]
        request = data.pop("request")
        asked = Request(**{**request, "only": tuple(request["only"]),
                           "without": tuple(request["without"])})  # fmt: skip
        tries = [
            Try(**{**each, "schedule": tuple(each["schedule"]), "moments": tuple(each["moments"])})
            for each in data.pop("tries")
        ]
        findings = [Finding(**each) for each in data.pop("findings")]
        return Record(path.absolute(), asked, tries=tries, findings=findings, **data)
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(f"{where}: is not the record of an exploration: {error}") from error


def last(cluster: str) -> Path | None:
    """Return the directory of the last exploration of a cluster; None where there is none."""
    return last_directory(
        EXPLORATIONS, FILE, lambda record: record["request"]["cluster"] == cluster
    )
