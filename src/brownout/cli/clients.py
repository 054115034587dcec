"""`brownout clients`: an application's clients and their settings, compared under one fault."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ExitCode
from brownout.cli.framework import App
from brownout.cli.output import however_it_ends, say

if TYPE_CHECKING:
    from brownout.runs.clients.record import Record
    from brownout.runs.clients.spec import Comparison

__all__ = ["app"]

app = App(
    help="Compare clients and their settings under the same fault: which one is served again?",
    no_args_is_help=True,
)


def complete_comparison(incomplete: str) -> list[str]:
    """Return the shipped comparisons whose names begin so."""
    from brownout.base import catalog

    return [name for name in catalog.names("comparisons") if name.startswith(incomplete)]


File = Annotated[
    str,
    typer.Argument(
        help="A comparison's file, or the name of a shipped one.",
        metavar="COMPARISON",
        autocompletion=complete_comparison,
    ),
]


@app.command()
def run(
    comparison: File,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the last comparison of that name.")
    ] = False,
) -> None:
    """Run COMPARISON: its fault several times, with every client beside the built-in driver.

    Whatever ends it, `--resume` continues with the next run. Exit code 0 if every client has its
    runs, 2 if runs are missing, 4 if something is still broken.
    """
    from brownout.runs.clients import record as records
    from brownout.runs.clients.conduct import conduct, put_back
    from brownout.runs.series import resumed

    spec = _read(comparison)
    if resume:
        record = resumed("comparison", spec, records.last(spec.name))
        put_back(spec, record, say)
    else:
        record = records.new(spec)
    say(f"the comparison is kept in {record.path}")
    with however_it_ends(lambda: _write(spec, record) if record.runs else None):
        conduct(spec, record, say)
    missing = [group for group in spec.groups if record.judged(group) < spec.repeats]
    for group in missing:
        names = ", ".join(row.name for row in spec.groups[group])
        say(f"has fewer than {spec.repeats} runs that count: {names}")
    raise typer.Exit(ExitCode.INCONCLUSIVE if missing else ExitCode.PASS)


@app.command()
def plan(comparison: File) -> None:
    """Print every client of COMPARISON with its settings and how long it takes. Touches nothing.

    If a comparison of that name was begun and not finished, prints what `--resume` would still run.
    """
    from brownout.runs.clients.outlook import plan_words
    from brownout.runs.clients.record import last

    spec = _read(comparison)
    record = last(spec.name)
    if record is not None and (record.ended or not record.is_of(spec)):
        record = None
    typer.echo(plan_words(spec, record))
    if record is not None:
        typer.echo(f"begun in {record.path}; continue it with --resume")


@app.command()
def page(
    directory: Annotated[
        Path, typer.Argument(help="A comparison that was made: its directory in `runs/clients`.")
    ],
) -> None:
    """Write the page of the comparison in DIRECTORY anew: clients.html, .md and figures.json."""
    from brownout.runs.clients.record import open_record

    record, spec = open_record(directory)
    _write(spec, record)


def _read(text: str) -> "Comparison":
    from brownout.runs.clients.clients_file import read

    return read(text)


def _write(spec: "Comparison", record: "Record") -> None:
    from brownout.runs.clients.figures import results_of
    from brownout.runs.clients.page import headline, write

    results = results_of(spec, record)
    typer.echo(headline(results))
    for path in write(spec, record, results):
        typer.echo(str(path))
