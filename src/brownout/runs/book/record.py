"""What was made of a book so far, on the disk: `books/<utc time>-<name>` under the runs' folder.

book.json       the record, written anew at every step
book.html, book.md, figures.json   the page, made of the runs
"""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.base.redact import redact
from brownout.run.metadata import read_json, write_json
from brownout.runs.book.spec import Book, Engine, Fault
from brownout.runs.series import last_directory, new_directory, runs_wanted

__all__ = [
    "BookRun",
    "Capacity",
    "Key",
    "Record",
    "cells_of",
    "last",
    "new",
    "open_record",
]

BOOKS = "books"


@dataclass(frozen=True, slots=True)
class Key:
    """Which cell: names of engine and fault, and the share of the capacity."""

    engine: str
    fault: str
    share: float

    @property
    def load(self) -> str:
        """`25 % of its capacity`."""
        return f"{100 * self.share:g} % of its capacity"


@dataclass(frozen=True, slots=True)
class BookRun:
    """One run that is over. `run` is its directory from the book's; empty if none was opened."""

    engine: str
    fault: str
    share: float
    verdict: str
    run: str
    seed: int
    took_s: float

    @property
    def key(self) -> Key:
        """The cell it belongs to."""
        return Key(self.engine, self.fault, self.share)


@dataclass(frozen=True, slots=True)
class Capacity:
    """The highest rate that held, in operations a second; `bound` is `exact` or `at least`."""

    rate: float
    bound: str
    confirmed: bool
    search: str


@dataclass(slots=True)
class Record:
    """A book in the making. `up` is a lab that it has up; `refused` and `unsupported` say why.

    `searches` has the directory of each engine's search for its capacity, from the book's.
    `labs` has the settings of each engine's cluster as its inventory declares them. `file` is the
    book's, from the record's directory if it is relative.
    """

    path: Path
    book: dict[str, Any]
    file: str
    began: str
    ended: str = ""
    up: str = ""
    searches: dict[str, str] = field(default_factory=dict)
    capacities: dict[str, Capacity] = field(default_factory=dict)
    labs: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    unsupported: dict[str, dict[str, str]] = field(default_factory=dict)
    made: list[BookRun] = field(default_factory=list)

    def save(self) -> None:
        """Write it, whole or not at all."""
        write_json(self.path / "book.json", self.document())

    def document(self) -> dict[str, Any]:
        """Return it as JSON data, without secrets."""
        data = {"schema_version": 1, **asdict(self)}
        del data["path"]
        return dict(redact(data))

    def is_of(self, book: Book) -> bool:
        """Whether the file says what it said when this began."""
        return self.book == book.model_dump(mode="json")

    def why_not(self, book: Book, key: Key) -> str:
        """Say why a cell has no runs and gets none; empty where it does."""
        engine = next(each for each in book.engines if each.name == key.engine)
        return (
            self.refused.get(key.engine)
            or engine.without.get(key.fault)
            or self.unsupported.get(key.engine, {}).get(key.fault, "")
        )

    def of(self, key: Key) -> list[BookRun]:
        """Return the runs of a cell in order."""
        return [each for each in self.made if each.key == key]

    def wants(self, book: Book, key: Key) -> int:
        """Return how many runs a cell still wants, if each of them counts."""
        if self.why_not(book, key):
            return 0
        return runs_wanted([each.verdict for each in self.of(key)], book.repeats, book.again)

    def where(self, run: Path) -> str:
        """Return a run's directory as it is kept: from the book's."""
        return os.path.relpath(run.resolve(), self.path.resolve())


def cells_of(book: Book, engine: Engine) -> Iterator[tuple[Key, Fault]]:
    """Yield every cell of an engine."""
    for share in book.shares:
        for fault in book.faults:
            yield Key(engine.name, fault.name, share), fault


def new(book: Book) -> Record:
    """Make the directory of a new book."""
    path, began = new_directory(BOOKS, book.name, "a book")
    record = Record(path, book.model_dump(mode="json"), str(book.path), began)
    record.save()
    return record


def open_record(path: Path) -> tuple[Record, Book]:
    """Read a book as it was when it began; `RunDirectoryError` if it is not a book."""
    data = read_json(path / "book.json")
    try:
        del data["schema_version"]
        capacities = {name: Capacity(**each) for name, each in data.pop("capacities").items()}
        runs = [BookRun(**each) for each in data.pop("made")]
        record = Record(path.absolute(), **data, capacities=capacities, made=runs)
        book = Book.model_validate(record.book)
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(f"{path}: no record of a book: {error}") from error
    book._path = record.path / record.file
    return record, book


def last(name: str) -> Record | None:
    """Return the record of the last book of this name; None where there is none."""
    path = last_directory(BOOKS, "book.json", lambda record: record["book"]["name"] == name)
    return None if path is None else open_record(path)[0]
