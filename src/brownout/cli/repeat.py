"""`brownout repeat`: one experiment many times, and how its measures are spread."""

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base.errors import ConfigurationError, ExitCode
from brownout.cli.arguments import Experiment, Json, Seed, Variables

if TYPE_CHECKING:
    from brownout.runs.repeats.running import Repeat

__all__ = ["code_of", "document_of", "repeat", "stop_after"]

#: The worse a verdict, the sooner it decides the whole.
CODES = {
    "fail": ExitCode.FAIL,
    "not run": ExitCode.INCONCLUSIVE,
    "inconclusive": ExitCode.INCONCLUSIVE,
    "aborted": ExitCode.ABORTED,
}


def repeat(
    experiment: Experiment,
    n: Annotated[int, typer.Option("-n", "--times", min=1, help="How many times.")] = 5,
    seed: Seed = 0,
    phase_max: Annotated[
        float, typer.Option(min=0, help="Wait up to so many seconds before each fault.")
    ] = 10.0,
    var: Variables = None,
    as_json: Json = False,
) -> None:
    """Run EXPERIMENT many times, each time another node and moment, and say how it is spread.

    Stops where a run leaves something broken, was aborted or could not begin. Exit code 0 if
    every run passed, else that of the worst; 4 where something is still broken.
    """
    from brownout.base import catalog
    from brownout.runs.repeats import table
    from brownout.runs.repeats.distribution import spreads
    from brownout.runs.repeats.draw import draws
    from brownout.runs.repeats.running import run_once

    path = catalog.find_experiment(experiment)
    own = seed or secrets.randbelow(999_999) + 1
    planned = draws(document_of(path), n, own, phase_max, tuple(var or ()))
    typer.echo(f"repeat {path.stem} {n} times, seed {own}", err=True)
    done: list[Repeat] = []
    for drawn in planned:
        done.append(run_once(path, drawn))
        typer.echo(table.line(done[-1]), err=True)
        if why := stop_after(done[-1]):
            typer.echo(f"brownout: stopped after {drawn.number} of {n}: {why}", err=True)
            break
    impacts = [found.impact for found in done if found.impact is not None]
    if as_json:
        typer.echo(json.dumps(_as_document(path, own, done, spreads(impacts)), indent=2))
    else:
        typer.echo(table.render(done, spreads(impacts)))
    raise typer.Exit(code_of(done))


def document_of(path: Path) -> Any:
    """Return the experiment in a file; `ConfigurationError` where it holds none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: is no experiment in JSON: {error}") from error


def stop_after(last: "Repeat") -> str | None:
    """Why no other repeat may follow."""
    if last.unmended:
        return f"the cluster is not mended: {last.unmended}; `brownout heal` it first"
    if last.impact is None:
        return "the run could not begin, and the next one would not either"
    return "the run was aborted" if last.verdict == "aborted" else None


def code_of(done: "list[Repeat]") -> int:
    """Return the exit code of the worst."""
    if any(found.unmended for found in done):
        return int(ExitCode.UNDO_FAILED)
    verdicts = {found.verdict for found in done}
    return next((int(code) for verdict, code in CODES.items() if verdict in verdicts), 0)


def _as_document(path: Path, seed: int, done: "list[Repeat]", found: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "schema_version": 1,
        "experiment": path.stem,
        "seed": seed,
        "repeats": [
            {
                "seed": each.draw.seed,
                "variables": list(each.draw.variables),
                "target": each.target,
                "verdict": each.verdict,
                "run": str(each.directory) if each.directory else None,
                "unmended": each.unmended,
            }
            for each in done
        ],
        "spreads": [asdict(spread) for spread in found],
    }
