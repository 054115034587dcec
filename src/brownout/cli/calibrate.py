"""`brownout calibrate`: the instrument against known truth."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.columns import aligned
from brownout.base.errors import ConfigurationError
from brownout.base.scratch import scratch
from brownout.cli.arguments import Json
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App
from brownout.cli.output import DIRECTORY, by_format, output_option

if TYPE_CHECKING:
    from brownout.calibration.judgement import Row
    from brownout.calibration.layout import RunPlan
    from brownout.calibration.scenario import Scenario

__all__ = ["app"]

app = App(help="Measure a server whose dips are known, and report the error.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Measure a server whose dips are known, and report the error."""


@app.command()
def run(
    quick: Annotated[bool, typer.Option("--quick", help="Only a few scenarios.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only scenarios whose names begin like this; repeatable."),
    ] = None,
    client: Annotated[
        bool, typer.Option("--client", help="Through a client of the client protocol.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="Only list the scenarios.")] = False,
    seed: Annotated[int, typer.Option(min=1, help="Seed of keys, arrivals and fault times.")] = 1,
    together: Annotated[int, typer.Option(min=1, max=16, help="Parallel runs.")] = 2,
    again: Annotated[
        int, typer.Option(min=0, help="How often to repeat a run that could not be measured.")
    ] = 1,
    output: Annotated[
        list[Path] | None,
        output_option(
            "Put the table into FILE.md, between its marks, or keep the run directories and the "
            "server's truth in a directory. Repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Drive the real generator against the scripted server; print truth beside measurement.

    Exit code 0 if all are within tolerance, 1 if some are out, 2 if some were not measured.
    """
    from brownout.calibration import catalogue, judgement, pages, table
    from brownout.calibration.calibrate import calibrate
    from brownout.calibration.layout import settings_for
    from brownout.calibration.machine import machine_words

    scenarios = catalogue.chosen(only or [], quick, client)
    if not scenarios:
        raise ConfigurationError("no scenario is left", "leave out --quick or --only")
    if list_:
        _say_list(scenarios, as_json)
        return
    outputs = by_format(output or [], ".md", DIRECTORY)
    kept = [path for form, path in outputs if form == DIRECTORY]
    if len(kept) > 1:
        raise ConfigurationError("--output: found several directories, wanted one")
    with ExitStack() as stack:
        place = (kept and kept[0]) or stack.enter_context(scratch("calibrate"))
        progress = stack.enter_context(_progress())
        rows = calibrate(
            scenarios,
            settings_for(quick),
            place,
            seed=seed,
            together=together,
            again=again,
            progress=progress,
        )
    text = f"{table.markdown(rows)}\n\n{table.summary(rows)} ({machine_words()})."
    for path in (path for form, path in outputs if form == ".md"):
        pages.put(path, "calibration", text)
    _say(rows, as_json, machine_words())
    raise typer.Exit(judgement.outcome(rows))


def _say(rows: "list[Row]", as_json: bool, machine: str) -> None:
    from dataclasses import asdict

    from brownout.calibration import judgement, table

    if as_json:
        document = {
            "schema_version": 1,
            "machine": machine,
            "exit_code": judgement.outcome(rows),
            "rows": [{**asdict(row), "unit": row.unit.name} for row in rows],
        }
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    typer.echo(table.grid(rows, "Known truth, and what was measured").plain())
    for line in (*table.notes(rows), f"{table.summary(rows)} ({machine})"):
        typer.echo(line)


def _say_list(scenarios: "list[Scenario]", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([{"name": s.name, "title": s.title} for s in scenarios], indent=2))
        return
    typer.echo("\n".join(aligned([(scenario.name, scenario.title) for scenario in scenarios])))


@contextmanager
def _progress() -> "Iterator[Callable[[RunPlan, float], None]]":
    """Show a bar a run on stderr, where that is a terminal."""
    from rich.progress import Progress, TaskID

    from brownout.show.console import console_on

    tasks: dict[str, TaskID] = {}
    with Progress(console=console_on(sys.stderr), transient=True) as bars:

        def advance(plan: "RunPlan", t: float) -> None:
            name = plan.setup.name
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=plan.seconds)
            bars.update(tasks[name], completed=t)

        yield advance


@app.command("false-alarms")
def false_alarms(
    windows: Annotated[int, typer.Option(min=1, help="Simulated windows at each noise.")] = 200,
    real: Annotated[str, duration_option("Length of a real run at each noise.")] = "0s",
    seed: Annotated[int, typer.Option(min=1, help="Seed of the simulation.")] = 1,
    output: Annotated[
        Path | None, output_option("Put the tables into FILE.md, between their marks.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report how often a fault is seen where there is none, and a steady baseline refused."""
    from dataclasses import asdict

    from brownout.calibration import pages
    from brownout.calibration.alarms import baselines, rates, table
    from brownout.calibration.alarms.real import real_rates
    from brownout.calibration.machine import machine_words
    from brownout.measure import MeasureSettings

    outputs = by_format([output] if output else [], ".md")
    length = seconds(real, "--real", 0)
    settings = MeasureSettings.default()
    with _bar("windows without a fault") as progress:
        alarms = rates.false_alarms(windows, settings, seed, progress)
    with _bar("windows with a dip") as progress:
        result = rates.finds(windows, settings, seed, progress)
    errors = rates.error_rates(windows, settings, seed)
    lab = MeasureSettings.lab()
    refused = [each for s in (settings, lab) for each in baselines.refusals(windows, s, seed)]
    driven = []
    if length:
        with scratch("calibrate") as place:
            driven = real_rates(place, length, lab, seed)
    for _, path in outputs:
        text = table.document(alarms, result, errors, driven, refused)
        pages.put(path, "false alarms", f"{text}\n\nMeasured with {machine_words()}.")
    if as_json:
        document = {
            "schema_version": 1,
            "false_alarms": [asdict(rate) for rate in alarms],
            "finds": [asdict(rate) for rate in result],
            "errors": [asdict(rate) for rate in errors],
            "baselines": [asdict(each) for each in refused],
            "real": [asdict(rate) for rate in driven],
        }
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        typer.echo(table.document(alarms, result, errors, driven, refused))


@contextmanager
def _bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show one bar on stderr, where that is a terminal; it is told the share that is done."""
    from rich.progress import Progress

    from brownout.show.console import console_on

    with Progress(console=console_on(sys.stderr), transient=True) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)


@app.command()
def serve(
    script: Annotated[Path, typer.Argument(help="The script; see docs/generator.md.")],
    listen: Annotated[str, typer.Option(help="Where it listens.")] = "127.0.0.1:0",
    output: Annotated[
        Path | None, output_option("At the end, write what it really did into this file.")
    ] = None,
) -> None:
    """Run the scripted server until stopped; prints its address as a line of JSON."""
    from brownout.base.binary import find_loadgen

    binary = str(find_loadgen())
    truth = [] if output is None else ["--truth", str(output)]
    os.execv(binary, [binary, "serve", "--listen", listen, *truth, str(script)])
