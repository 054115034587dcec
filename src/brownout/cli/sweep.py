"""`brownout sweep`: one experiment at several values of one variable, and what each cost."""

import json
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Experiment, ExperimentCluster, Json, Seed
from brownout.cli.output import by_format, output_option
from brownout.cli.repeat import Again, code_of, say, worst_code
from brownout.cli.settings import Settings, variables

__all__ = ["sweep"]


def sweep(
    experiment: Experiment,
    vary: Annotated[str, typer.Option(help="NAME=VALUE,VALUE,…: the variable and its values.")],
    cluster: ExperimentCluster = "",
    n: Annotated[int, typer.Option("-n", "--times", min=1, help="Runs to judge per value.")] = 1,
    again: Again = None,
    seed: Seed = 0,
    settings: Settings = None,
    output: Annotated[Path | None, output_option("Also draw the curve into FILE.svg.")] = None,
    as_json: Json = False,
) -> None:
    """Run EXPERIMENT with several values of one variable; show what each of them costs.

    Every value begins with the same seeds, so nothing else differs; a run that is made again takes
    the next seed. Makes inconclusive runs again, stops and exits like `repeat`.
    """
    from brownout.base import catalog
    from brownout.runs.repeats.draw import draws
    from brownout.runs.repeats.repeat import (
        again_of,
        check,
        finished,
        not_judged,
        run_all,
        too_few,
    )
    from brownout.runs.repeats.sweep import point, render, svg
    from brownout.runs.run_set import never
    from brownout.session.experiment_checks import read_experiment

    outputs = by_format([output] if output else [], ".svg")
    path = catalog.find_experiment(experiment)
    document = read_experiment(path)
    fixed = variables(path, settings, cluster)
    variable, values = _varied(path, document, vary)
    own = seed or secrets.randbelow(999_999) + 1
    further = again_of(again, n)
    planned = {
        value: draws(document, n + further, own, 0.0, (*fixed, f"{variable}={value}"))
        for value in values
    }
    further = min(check(path, each, further) for each in planned.values())
    say(f"sweep {path.stem} over {variable} {', '.join(values)}, seed {own}")
    open_runs: list[str] = []
    codes, points = [], []
    for value, repeats in planned.items():
        runs, stopped = run_all(path, repeats, n, further, say)
        open_runs += not_judged(runs)
        codes.append(code_of(runs, n))
        if not stopped and (shortfall := too_few(runs, n)):
            say(f"brownout: {variable}={value}: {shortfall}")
        points.append(point(value, [each.outcome.verdict for each in runs], finished(runs)))
        if stopped:
            say(f"brownout: stopped at {variable}={value}: {stopped}")
            break
    if as_json:
        typer.echo(json.dumps(
            {"schema_version": 1, "experiment": path.stem, "seed": own, "variable": variable,
             "points": [never(asdict(each)) for each in points]}, indent=2))  # fmt: skip
    else:
        typer.echo(render(variable, points))
        for words in open_runs:
            typer.echo(words)
    for _, file in outputs:
        _draw(file, svg(f"{path.stem}: {variable}", variable, points))
    raise typer.Exit(worst_code(codes))


def _varied(path: Path, document: dict[str, Any], vary: str) -> tuple[str, list[str]]:
    from brownout.runs.repeats.sweep import settings_of
    from brownout.session.options import SETTINGS

    values = settings_of(vary)
    if values is None:
        raise ConfigurationError(
            f"--vary: found `{vary}`, wanted NAME=VALUE,VALUE,… with two or more"
        )
    names = dict.fromkeys([*document.get("configuration", {}), *SETTINGS])
    if values[0] not in names:
        raise ConfigurationError(
            f"--vary: {path.stem} has no variable `{values[0]}`; wanted one of {', '.join(names)}"
        )
    return values


def _draw(file: Path, picture: str | None) -> None:
    if picture is None:
        typer.echo("brownout: no curve: fewer than two values were measured", err=True)
        return
    file.write_text(picture, encoding="utf-8")
    typer.echo(f"the curve is in {file}", err=True)
