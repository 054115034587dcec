"""Publish a book: its page, a text of each run, and everything it was made from in one archive."""

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from brownout.base.errors import ConfigurationError
from brownout.runs.book.page import Edition, write
from brownout.runs.book.record import Record
from brownout.runs.evidence.bundle import add
from brownout.runs.evidence.entries import Entry, entries, entry
from brownout.show.report.table import render

__all__ = ["publish"]

ARCHIVE = "runs.tar.xz"
#: Of a run: can be made again from the rest.
_MADE_AGAIN = "report.html"
#: Of a search for a capacity; the series of its steps are left out.
_SEARCH = ("capacity.html", "capacity.json", "capacity.svg", "steps.ndjson", "wanted.json")
_READABLE = 0o644


def publish(edition: Edition, folder: Path, say: Callable[[str], object]) -> list[Path]:
    """Write an edition into `folder` so that it needs nothing else; return the paths to read first.

    Packing takes some seconds a run: `say` is told how far it is. The folder is there once it is
    whole.

    book.html, book.md, figures.json   the page; its links stay within the folder
    runs/<run>.txt                     each run, as `brownout show` prints it
    runs/<search>.html                 how each capacity was found
    runs.tar.xz                        the record and all runs, to be read again by `book page`

    Raises `ConfigurationError` if `folder` has anything in it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigurationError(
            f"{folder}: found something there, wanted a new folder", "give another with --output"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as draft:
        drafted = Path(draft) / folder.name
        names = [path.name for path in _publish(edition, drafted, say)]
        drafted.replace(folder)
    return [folder / name for name in names]


def _publish(edition: Edition, folder: Path, say: Callable[[str], object]) -> list[Path]:
    runs = folder / "runs"
    runs.mkdir(parents=True)
    for cell in edition.cells:
        for run in cell.runs:
            text = render(run.impact, run.run_id)
            (runs / f"{run.run_id}.txt").write_text(f"{text}\n", encoding="utf-8")
    for capacity in edition.record.capacities.values():
        search = edition.record.path / capacity.search
        page = search / "capacity.html"
        if page.is_file():
            (runs / f"{search.name}.html").write_bytes(page.read_bytes())
    _archive(edition.record, folder / ARCHIVE, say)
    say("writing the page")
    written = [*write(replace(edition, beside=True), folder), folder / ARCHIVE]
    for path in written:
        path.chmod(_READABLE)
    return written


def _archive(record: Record, target: Path, say: Callable[[str], object]) -> None:
    root = PurePosixPath(record.path.name)
    with tarfile.open(target, "w:xz") as archive:
        for name, size, file in _contents(record, say):
            with file:
                add(archive, str(root / name), size, file)


def _contents(record: Record, say: Callable[[str], object]) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Yield what the archive has: name, size in bytes, and the open file."""
    book = Path(record.file)
    moved = replace(
        record,
        file=book.name,
        made=[replace(m, run=m.run and f"runs/{Path(m.run).name}") for m in record.made],
        searches={name: _moved(search) for name, search in record.searches.items()},
        capacities={
            name: replace(each, search=_moved(each.search))
            for name, each in record.capacities.items()
        },
    )
    yield _given("book.json", json.dumps(moved.document(), indent=2).encode())
    for name in (book.name, *record.book["published"]):
        yield _given(name, (book.parent / name).read_bytes())
    for number, run in enumerate(record.made, 1):
        if run.run:
            say(f"packing run {number} of {len(record.made)}")
            path = record.path / run.run
            for name, one in entries(path).items():
                if name != _MADE_AGAIN:
                    yield _packed(one, "runs", path.name, name)
    for name, capacity in record.capacities.items():
        say(f"packing the search for the capacity of {name}")
        search = record.path / capacity.search
        for each in _SEARCH:
            if (search / each).is_file():
                yield _packed(entry(search / each), "searches", search.name, each)


def _moved(search: str) -> str:
    return f"searches/{Path(search).name}"


def _packed(one: Entry, *parts: str) -> tuple[str, int, IO[bytes]]:
    return "/".join(parts), one.file.bytes, one.open()


def _given(name: str, data: bytes) -> tuple[str, int, IO[bytes]]:
    return name, len(data), io.BytesIO(data)
