"""`brownout store`: runs in an object store, pushed, listed, pulled."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import BrownoutError, ConfigurationError, ExitCode, RunDirectoryError
from brownout.cli.arguments import Json, complete_run
from brownout.cli.framework import App
from brownout.cli.output import output_option

__all__ = ["app", "complain", "delivered"]

app = App(
    help="Runs in an object store (BROWNOUT_STORE): copy, list, fetch.",
    no_args_is_help=True,
)
Store = Annotated[
    str,
    typer.Option(
        envvar="BROWNOUT_STORE",
        help="s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER.",
    ),
]


def complain(words: str) -> None:
    """Say an error on stderr."""
    typer.echo(f"brownout: {words}", err=True)


def delivered(code: int, folder: Path) -> int:
    """Copy a folder to the store if one is named; return `code`, but no 0 where that failed."""
    from brownout.runs.store.delivery import deliver

    failed = deliver(folder, complain)
    return code or int(ExitCode.INCONCLUSIVE if failed else ExitCode.PASS)


@app.command()
def push(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Directories or names; default: all that are not in the store yet.",
            metavar="[RUN]...",
            autocompletion=complete_run,
        ),
    ] = None,
    store: Store = "",
) -> None:
    """Copy runs to the store and verify each file. Exit code 2 if one could not be copied."""
    from brownout.runs.store.delivery import left
    from brownout.runs.store.objects import Objects
    from brownout.runs.store.place import wanted
    from brownout.runs.store.push import push as push_one

    place = wanted(store)
    objects, failed = Objects(place), False
    for folder in [_over(run) for run in runs or []] or left(place):
        try:
            done = push_one(folder, objects)
        except BrownoutError as error:
            complain(f"{folder.name}: {error}")
            failed = True
        else:
            how = f"{done.sent} of {done.files} files sent, {done.sent_bytes / 1e6:,.1f} MB"
            typer.echo(f"{done.url}  {how}")
    raise typer.Exit(int(ExitCode.INCONCLUSIVE if failed else ExitCode.PASS))


def _over(run: Path) -> Path:
    """Return a run's folder; raises `Refused` while it is in progress or not healed."""
    from brownout.faults import open_runs
    from brownout.run.directory import runs_root

    folder = run if run.is_dir() else runs_root() / run
    if not folder.is_dir():
        raise RunDirectoryError(f"{run}: there is no such run directory")
    open_runs.check_over(folder)
    return folder


@app.command("list")
def list_(
    store: Store = "",
    last: Annotated[int, typer.Option(min=1, help="Only this many of the latest.")] = 200,
    as_json: Json = False,
) -> None:
    """List the store's runs, the latest last: name, verdict, size."""
    from brownout.runs.store.objects import Objects
    from brownout.runs.store.place import wanted
    from brownout.runs.store.pull import list_stored

    entries = list_stored(Objects(wanted(store)), last)
    if as_json:
        rows = [{"run": s.name, "verdict": s.verdict, "bytes": s.bytes} for s in entries]
        typer.echo(json.dumps(rows, indent=2))
        return
    for stored in entries:
        stand_in = ", STAND-IN" if stored.manifest and stored.manifest.stand_in else ""
        typer.echo(f"{stored.name}  {stored.verdict}{stand_in}  {stored.bytes / 1e6:,.1f} MB")


@app.command()
def pull(
    runs: Annotated[
        list[str],
        typer.Argument(help="Names of runs, as `store list` prints them.", metavar="RUN..."),
    ],
    output: Annotated[
        Path | None, output_option("The folder to put them in; default: the runs' folder.")
    ] = None,
    store: Store = "",
) -> None:
    """Fetch runs, verify each file's checksum, and print where they are."""
    from brownout.run.directory import runs_root
    from brownout.runs.evidence.manifest import unsafe
    from brownout.runs.store.objects import Objects
    from brownout.runs.store.place import wanted
    from brownout.runs.store.pull import pull as fetch

    objects = Objects(wanted(store))
    if bad := [name for name in runs if unsafe(name)]:
        raise ConfigurationError([f"{name!r}: not the name of a run" for name in bad])
    for name in runs:
        typer.echo(str(fetch(name, objects, output or runs_root())))
