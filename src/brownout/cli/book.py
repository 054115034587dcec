"""`brownout book`: the same faults on several databases, made by one command and published."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ExitCode
from brownout.cli.framework import App
from brownout.cli.output import however_it_ends, say

if TYPE_CHECKING:
    from brownout.runs.book.record import Record
    from brownout.runs.book.spec import Book

__all__ = ["app"]

app = App(
    help="The failover book: the same faults on several databases, side by side on one page.",
    no_args_is_help=True,
)


def complete_book(incomplete: str) -> list[str]:
    """Return the shipped books whose names begin so."""
    from brownout.base import catalog

    return [name for name in catalog.names("books") if name.startswith(incomplete)]


File = Annotated[
    str,
    typer.Argument(
        help="A book's file, or the name of a shipped one.",
        metavar="BOOK",
        autocompletion=complete_book,
    ),
]

Engines = Annotated[
    list[str] | None,
    typer.Option("--engine", help="Only this engine of the book; can be repeated.", metavar="NAME"),
]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", help="Only this fault of the book; can be repeated.", metavar="NAME"),
]


@app.command()
def run(
    book: File,
    engine: Engines = None,
    fault: Faults = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the last book of that name.")
    ] = False,
) -> None:
    """Run BOOK: each engine's capacity, then every fault on it, each run in its own process.

    Whatever ends it, `--resume` continues with the next run; after a part of the book, it also
    runs another part, or the rest. Exit code 0 if every cell that was asked for has its runs or
    a reason to have none, 2 if runs are missing.
    """
    from brownout.runs.book import record as records
    from brownout.runs.book.conduct import conduct, put_back
    from brownout.runs.book.record import cells_of
    from brownout.runs.series import resumed

    spec = _read(book)
    part = spec.only(engine or (), fault or ())
    if resume:
        record = resumed("book", spec, records.last(spec.name))
        put_back(spec, record, say)
    else:
        record = records.new(spec)
    say(f"the book is kept in {record.path}")
    with however_it_ends(lambda: _write(spec, record, anew=False) if record.made else None):
        conduct(spec, record, say, part)
    missing = [
        f"{key.engine}, {key.fault}, {key.load}"
        for each in part.engines
        for key, _ in cells_of(part, each)
        if not record.why_not(spec, key) and _counted(record, key) < spec.repeats
    ]
    for words in missing:
        say(f"has fewer than {spec.repeats} runs that count: {words}")
    raise typer.Exit(ExitCode.INCONCLUSIVE if missing else ExitCode.PASS)


@app.command()
def plan(book: File, engine: Engines = None, fault: Faults = None) -> None:
    """Print every cell of BOOK and about how long it takes. Touches nothing.

    If a book of that name was begun and not finished, prints what `--resume` would still run.
    """
    from brownout.runs.book.outlook import plan_words
    from brownout.runs.book.record import last

    spec = _read(book)
    record = last(spec.name)
    if record is not None and (record.ended or not record.is_of(spec)):
        record = None
    typer.echo(plan_words(spec.only(engine or (), fault or ()), record))
    if record is not None:
        typer.echo(f"begun in {record.path}; continue it with --resume")


@app.command()
def page(
    directory: Annotated[
        Path, typer.Argument(help="A book that was made: its directory under `runs/books`.")
    ],
    from_runs: Annotated[
        bool,
        typer.Option("--from-runs", help="Compute all figures anew from the raw files first."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Publish it in this new folder, with a text of each run and an archive of all.",
        ),
    ] = None,
) -> None:
    """Write the page of the book in DIRECTORY anew: book.html, book.md and figures.json.

    With --output, writes them into a folder that needs nothing else and can be published.
    """
    from brownout.runs.book.record import open_record

    record, spec = open_record(directory)
    _write(spec, record, from_runs, output)


def _read(text: str) -> "Book":
    from brownout.runs.book.book_file import read

    return read(text)


def _counted(record: "Record", key: object) -> int:
    from brownout.runs.run_set import JUDGED

    return sum(each.verdict in JUDGED for each in record.made if each.key == key)


def _write(spec: "Book", record: "Record", anew: bool, output: Path | None = None) -> None:
    from brownout.runs.book.book_file import published_in
    from brownout.runs.book.page import edition_of, write
    from brownout.runs.book.publication import publish

    edition = edition_of(spec, record, published_in(spec), anew)
    for path in publish(edition, output, say) if output else write(edition, record.path):
        typer.echo(str(path))
