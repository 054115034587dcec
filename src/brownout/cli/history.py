"""`brownout history`: every run that was made, in the terminal and as one page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Json, complete_run
from brownout.cli.framework import App
from brownout.cli.output import by_format, output_option

if TYPE_CHECKING:
    from brownout.runs.database import Place

__all__ = ["app"]

app = App(help="Every recorded run: what it measured, and its verdict.")


@app.callback(invoke_without_command=True)
def history(
    context: typer.Context,
    scenario: Annotated[str, typer.Option(help="Only runs of this scenario.")] = "",
    cluster: Annotated[str, typer.Option(help="Only runs on this cluster.")] = "",
    last: Annotated[int, typer.Option(min=1, help="Only this many of the latest.")] = 200,
    output: Annotated[
        Path | None, output_option("Write it as one self-contained page into FILE.html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the runs of the history, a table for each kind; or write them as a page."""
    if context.invoked_subcommand is not None:
        return
    from brownout.runs.history import page
    from brownout.runs.history.store import Store

    outputs = by_format([output] if output else [], ".html")
    place = _place()
    with Store(place) as store:
        kept = store.runs(scenario or None, cluster or None, last)
    for _, path in outputs:
        from brownout.show.report.html import save

        save(path, page.render(kept, place.words))
        typer.echo(str(path))
    if outputs:
        return
    if as_json:
        typer.echo(json.dumps(page.as_document(kept), indent=2))
    else:
        for kind, runs in kept.groups().items():
            typer.echo(page.grid(kind, runs).plain() + "\n")
        typer.echo(f"{len(kept)} runs in {place.words}", err=True)


@app.command()
def add(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Runs: directories or names.", metavar="RUN…", autocompletion=complete_run
        ),
    ],
    occasion: Annotated[str, typer.Option(help="What the runs were part of.")] = "",
) -> None:
    """Add runs to the history that were made elsewhere, or before there was one."""
    from dataclasses import replace

    from brownout.runs.history.store import Store
    from brownout.runs.run_set import Runs

    added = Runs.read(runs)
    with Store(_place()) as store:
        for run in added:
            store.put(replace(run, occasion=occasion or None))
            typer.echo(f"{run.run_id}  {run.verdict}")


def _place() -> "Place":
    from brownout.runs.history.place import VARIABLE, find

    place = find()
    if place is None:
        raise ConfigurationError(f"{VARIABLE} is `off`, so there is no history to show")
    return place
