"""`brownout repeat`: one experiment many times, and how its measures are spread."""

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base.errors import ExitCode
from brownout.cli.arguments import Experiment, ExperimentCluster, Json, Seed
from brownout.cli.durations import duration_option, seconds
from brownout.cli.settings import Settings, variables

if TYPE_CHECKING:
    from brownout.runs.repeats.repeat import Repeat

__all__ = ["code_of", "repeat", "say"]


def repeat(
    experiment: Experiment,
    cluster: ExperimentCluster = "",
    n: Annotated[int, typer.Option("-n", "--times", min=1, help="How many times.")] = 5,
    seed: Seed = 0,
    phase_max: Annotated[
        str, duration_option("Wait at most this long, drawn anew, before each fault.")
    ] = "10s",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Run EXPERIMENT many times on random nodes at random times; report the distribution.

    Stops if a run leaves something broken, is aborted or cannot begin. Exit code 0 if every run
    passed, else that of the worst; 4 if something is still broken.
    """
    from brownout.base import catalog
    from brownout.runs.repeats import table
    from brownout.runs.repeats.draw import draws
    from brownout.runs.repeats.repeat import check, finished, run_all
    from brownout.session.experiment_checks import read_experiment

    path = catalog.find_experiment(experiment)
    own = seed or secrets.randbelow(999_999) + 1
    longest = seconds(phase_max, "--phase-max", 0)
    planned = draws(
        read_experiment(path), n, own, longest, tuple(variables(path, settings, cluster))
    )
    check(path, planned)
    typer.echo(f"repeat {path.stem} {n} times, seed {own}", err=True)
    done, stopped = run_all(path, planned, say)
    if stopped:
        say(f"brownout: stopped after {len(done)} of {n}: {stopped}")
    runs = finished(done)
    if as_json:
        typer.echo(json.dumps(_as_document(path, own, done, runs.spreads()), indent=2))
    else:
        typer.echo(table.render(runs, [each.outcome.verdict for each in done]))
    raise typer.Exit(code_of(done))


def say(words: str) -> None:
    """Report progress on stderr."""
    typer.echo(words, err=True)


def code_of(done: "list[Repeat]") -> int:
    """Return the exit code of the worst: the lower a code other than a pass, the worse."""
    if any(each.outcome.unmended for each in done):
        return int(ExitCode.UNDO_FAILED)
    codes = {ExitCode.of(each.outcome.verdict) for each in done}
    return int(min(codes - {ExitCode.PASS}, default=ExitCode.PASS))


def _as_document(path: Path, seed: int, done: "list[Repeat]", limits: Any) -> dict[str, Any]:
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
                "verdict": each.outcome.verdict,
                "run": str(each.outcome.directory) if each.outcome.directory else None,
                "unmended": each.outcome.unmended,
            }
            for each in done
        ],
        "spreads": [asdict(spread) for spread in limits],
    }
