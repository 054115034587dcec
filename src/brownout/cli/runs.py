"""`brownout show`, `analyze`, `report` and `runs`: look at runs again, and let old ones go."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ConfigurationError, ExitCode, Unsupported
from brownout.base.extras import how_to_install
from brownout.cli.arguments import Json, Run
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App
from brownout.cli.output import STDOUT, by_format, output_option

if TYPE_CHECKING:
    from brownout.measure.impact import Impact

__all__ = ["analyze", "app", "report", "show", "show_impact"]

app = App(help="Kept runs: list them, remove old ones.", no_args_is_help=True)


def show(run: Run = Path("latest"), as_json: Json = False) -> None:
    """Show a run's table, or its impact.json. The exit code is its verdict's.

    0 pass, 1 fail, 2 inconclusive (also for a run in progress or a dead one), 3 aborted.
    """
    from brownout.measure.document import read_impact
    from brownout.run.directory import RunDirectory

    directory = RunDirectory.find(run)
    if (without := _without_result(directory.path)) is not None:
        typer.echo(json.dumps(without, indent=2) if as_json else _lines(without))
        raise typer.Exit(ExitCode.INCONCLUSIVE)
    show_impact(read_impact(directory), str(directory.path), as_json)


def analyze(run: Run = Path("latest"), as_json: Json = False) -> None:
    """Make ledger.json and impact.json again from a run's raw files; exits like `show`."""
    from brownout.judge.analysis import analyze as judge_again
    from brownout.run.directory import RunDirectory

    directory = RunDirectory.find(run)
    show_impact(judge_again(directory.path), str(directory.path), as_json)


def report(
    run: Run = Path("latest"),
    output: Annotated[
        list[Path] | None,
        output_option(
            "FILE.html instead, FILE.png for a chat (the report's top), FILE.md for a pull "
            "request, `-` to print the latter. Repeatable."
        ),
    ] = None,
) -> None:
    """Write a run's report.html, one self-contained file, and print its path.

    With --output, writes those files instead.
    """
    from brownout.run.directory import RunDirectory

    outputs = by_format(output or [], ".html", ".png", ".md", STDOUT)
    path = RunDirectory.find(run).path
    try:
        for form, file in outputs or [(".html", path / "report.html")]:
            typer.echo(_written(path, form, file))
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"a report needs the package `{error.name}`, which is not installed",
            how_to_install("report"),
        ) from error


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the runs, the latest last: name, verdict, size."""
    from brownout.run.kept import list_runs
    from brownout.runs.run_set import verdict_of

    rows = [(run.name, verdict_of(run.path), run.bytes()) for run in list_runs()]
    if as_json:
        keys = ("run", "verdict", "bytes")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    for name, verdict, size in rows:
        typer.echo(f"{name}  {verdict}  {size / 1e6:,.1f} MB")
    typer.echo(f"{len(rows)} runs, {sum(size for *_, size in rows) / 1e6:,.1f} MB", err=True)


@app.command()
def prune(
    keep: Annotated[int | None, typer.Option(min=0, help="Keep this many of the latest.")] = None,
    older_than: Annotated[str, duration_option("Only those older than this.")] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them instead of only listing them.")
    ] = False,
) -> None:
    """List old runs, and remove them with --yes. Runs in progress always stay."""
    import shutil

    from brownout.faults import open_runs
    from brownout.run.kept import list_runs, to_remove

    if keep is None and not older_than:
        raise ConfigurationError("found neither --keep nor --older-than, wanted one of them")
    held = {Path(claim.run).resolve() for claim in open_runs.claims()}
    limit = timedelta(seconds=seconds(older_than, "--older-than")) if older_than else None
    chosen = to_remove(list_runs(), datetime.now(UTC), keep, limit)
    freed = 0
    for run in chosen:
        if run.path.resolve() in held:
            typer.echo(f"kept     {run.name}: in progress, or needed by `brownout heal`")
            continue
        freed += run.bytes()
        typer.echo(f"{'removed ' if yes else 'would go'} {run.name}")
        if yes:
            shutil.rmtree(run.path)
    text = "freed" if yes else "would be freed; --yes does it"
    typer.echo(f"{freed / 1e6:,.1f} MB {text}")


def _without_result(path: Path) -> dict[str, str] | None:
    """Return what is to be said of a run that is not judged (yet); None of one that is."""
    from brownout.faults import open_runs
    from brownout.show.live.course import phase_of
    from brownout.show.live.files import RunFiles

    name = path.name
    held = [claim for claim in open_runs.claims() if Path(claim.run) == path.resolve()]
    if held and held[0].is_alive():
        state = "running"
        hint = f"`brownout watch {name}` shows it, `brownout abort {name}` ends it"
    elif held:
        state = "died before it had put everything back"
        hint = f"`brownout heal {held[0].cluster}` puts it back; then `brownout analyze {name}`"
    elif (path / "run.json").is_file() and not (path / "journal.json").is_file():
        state = "is being judged, or died before it was"
        hint = f"nothing of it is to be healed; `brownout analyze {name}` makes a result of it"
    else:
        return None
    return {"run": str(path), "state": state, "phase": phase_of(RunFiles(path).events()),
            "hint": hint}  # fmt: skip


def _lines(without: Mapping[str, str]) -> str:
    return "{run}\n  {state}; the last it did: {phase}\n  {hint}".format(**without)


def _written(run: Path, form: str, file: Path) -> str:
    """Write the report of the run in `run` in one format; return where it is, or what to print."""
    if form in (".md", STDOUT):
        from brownout.show.report.junit import write as write_text
        from brownout.show.report.markdown import write_markdown

        text = write_markdown(run)
        if form == STDOUT:
            return text
        write_text(file, f"{text}\n")
    elif form == ".png":
        from brownout.show.report.picture import write_png

        write_png(run, file)
    else:
        from brownout.show.report.html import write

        write(run, file)
    return str(file)


def show_impact(impact: "Impact", where: str, as_json: bool = False) -> None:
    """Print a result and end with its verdict's exit code."""
    from brownout.measure.document import document_of
    from brownout.show.report.table import render

    text = json.dumps(document_of(impact), indent=2) if as_json else render(impact, where)
    typer.echo(text)
    raise typer.Exit(ExitCode.of(impact.verdict))
