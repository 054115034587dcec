"""`brownout sweep`: one experiment at several values of one variable, and what each cost."""

import json
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Experiment, Json, Seed, Variables
from brownout.cli.repeat import code_of, document_of, stop_after

if TYPE_CHECKING:
    from brownout.runs.repeats.draw import Draw
    from brownout.runs.repeats.running import Repeat

__all__ = ["sweep"]


def sweep(
    experiment: Experiment,
    vary: Annotated[str, typer.Option(help="NAME=VALUE,VALUE,…: the variable, and what to try.")],
    n: Annotated[int, typer.Option("-n", "--times", min=1, help="Runs of each value.")] = 1,
    seed: Seed = 0,
    var: Variables = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the curve into this file too.")] = None,
    as_json: Json = False,
) -> None:
    """Run EXPERIMENT with each value of one variable, and show time against cost.

    The runs of every value have the same seeds, so they differ in nothing else. Stops and exits
    as `repeat` does.
    """
    from brownout.base import catalog
    from brownout.runs.repeats.curve import svg as picture
    from brownout.runs.repeats.sweep import point, render

    path = catalog.find_experiment(experiment)
    variable, values = _varied(path, vary)
    own = seed or secrets.randbelow(999_999) + 1
    typer.echo(f"sweep {path.stem} over {variable} {', '.join(values)}, seed {own}", err=True)
    done: list[Repeat] = []
    points = []
    for value in values:
        runs, stopped = _runs(path, _draws(path, n, own, (*(var or ()), f"{variable}={value}")))
        done += runs
        impacts = [run.impact for run in runs if run.impact is not None]
        points.append(point(value, [run.verdict for run in runs], impacts))
        if stopped:
            typer.echo(f"brownout: stopped at {variable}={value}: {stopped}", err=True)
            break
    if as_json:
        typer.echo(json.dumps(
            {"schema_version": 1, "experiment": path.stem, "seed": own, "variable": variable,
             "points": [asdict(each) for each in points]}, indent=2))  # fmt: skip
    else:
        typer.echo(render(variable, points))
    if svg is not None:
        _draw(svg, picture(f"{path.stem}: {variable}", variable, points))
    raise typer.Exit(code_of(done))


def _varied(path: Path, vary: str) -> tuple[str, list[str]]:
    from brownout.runs.repeats.sweep import settings_of
    from brownout.session.options import SETTINGS

    found = settings_of(vary)
    if found is None:
        raise ConfigurationError(
            f"--vary: found `{vary}`, wanted NAME=VALUE,VALUE,… with two or more"
        )
    known = dict.fromkeys([*document_of(path).get("configuration", {}), *SETTINGS])
    if found[0] not in known:
        raise ConfigurationError(
            f"--vary: {path.stem} has no variable `{found[0]}`; wanted one of {', '.join(known)}"
        )
    return found


def _draws(path: Path, n: int, seed: int, given: tuple[str, ...]) -> "list[Draw]":
    from brownout.runs.repeats.draw import draws

    return draws(document_of(path), n, seed, 0.0, given)


def _runs(path: Path, planned: "list[Draw]") -> "tuple[list[Repeat], str | None]":
    """Run them one by one; return them, and why no other may follow."""
    from brownout.runs.repeats import table
    from brownout.runs.repeats.running import run_once

    done: list[Repeat] = []
    for drawn in planned:
        done.append(run_once(path, drawn))
        typer.echo(table.line(done[-1]), err=True)
        if why := stop_after(done[-1]):
            return done, why
    return done, None


def _draw(file: Path, picture: str | None) -> None:
    if picture is None:
        typer.echo("brownout: no curve: fewer than two values were measured", err=True)
        return
    file.write_text(picture, encoding="utf-8")
    typer.echo(f"the curve is in {file}", err=True)
