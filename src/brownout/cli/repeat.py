"""`brownout repeat`: one experiment many times, and how its measures are spread."""

import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base.errors import ExitCode
from brownout.cli.arguments import Experiment, ExperimentCluster, Json, Seed
from brownout.cli.durations import duration_option, seconds
from brownout.cli.settings import Settings, variables

if TYPE_CHECKING:
    from brownout.runs.repeats.repeat import Repeat

__all__ = ["Again", "code_of", "repeat", "say", "worst_code"]

Again = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1000,
        help="How many further runs may replace those that could not be judged; "
        "as many as --times by default.",
    ),
]


def repeat(
    experiment: Experiment,
    cluster: ExperimentCluster = "",
    n: Annotated[int, typer.Option("-n", "--times", min=1, help="How many runs to judge.")] = 5,
    again: Again = None,
    seed: Seed = 0,
    phase_max: Annotated[
        str, duration_option("Wait at most this long, drawn anew, before each fault.")
    ] = "10s",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Run EXPERIMENT many times on random nodes at random times; report the distribution.

    Continues until --times runs have passed or failed; inconclusive ones are kept, named and made
    again. Stops if a run leaves something broken, is aborted or cannot begin. Exit code 0 if every
    judged run passed, 1 if one failed, 2 if too few were judged, 4 if something is still broken.
    """
    from brownout.base import catalog
    from brownout.runs.repeats import table
    from brownout.runs.repeats.draw import draws
    from brownout.runs.repeats.repeat import (
        again_of,
        check,
        finished,
        not_judged,
        run_all,
        too_few,
    )
    from brownout.session.experiment_checks import read_experiment

    path = catalog.find_experiment(experiment)
    own = seed or secrets.randbelow(999_999) + 1
    longest = seconds(phase_max, "--phase-max", 0)
    further = again_of(again, n)
    planned = draws(
        read_experiment(path), n + further, own, longest, tuple(variables(path, settings, cluster))
    )
    further = check(path, planned, further)
    say(f"repeat {path.stem} {n} times, at most {further} more for inconclusive runs, seed {own}")
    done, stopped = run_all(path, planned, n, further, say)
    if stopped:
        say(f"brownout: stopped after {len(done)} of {n}: {stopped}")
    runs, verdicts = finished(done), [each.outcome.verdict for each in done]
    if as_json:
        typer.echo(json.dumps(_as_document(path, own, n, done, runs.spreads()), indent=2))
    else:
        typer.echo(table.render(runs, verdicts, not_judged(done)))
    if not stopped and (shortfall := too_few(done, n)):
        say(f"brownout: {shortfall}")
    raise typer.Exit(code_of(done, n))


def say(words: str) -> None:
    """Report progress on stderr."""
    typer.echo(words, err=True)


def code_of(done: "list[Repeat]", wanted: int) -> int:
    """Return the exit code of repeats of which `wanted` were to be judged, that of the worst run.

    The lower a code other than a pass, the worse. Where enough were judged, the others do not
    count.
    """
    from brownout.runs.repeats.repeat import judged

    if any(each.outcome.unmended for each in done):
        return int(ExitCode.UNDO_FAILED)
    codes = {ExitCode.of(each.outcome.verdict) for each in done}
    if judged(done) >= wanted:
        codes.discard(ExitCode.INCONCLUSIVE)
    return worst_code(codes)


def worst_code(codes: Iterable[int]) -> int:
    """Return the code of the worst: that something is broken, or else the lowest but a pass."""
    others = set(codes) - {ExitCode.PASS}
    if ExitCode.UNDO_FAILED in others:
        return int(ExitCode.UNDO_FAILED)
    return int(min(others, default=ExitCode.PASS))


def _as_document(
    path: Path, seed: int, wanted: int, done: "list[Repeat]", spreads: Any
) -> dict[str, Any]:
    from dataclasses import asdict

    from brownout.runs.repeats.repeat import judged

    return {
        "schema_version": 1,
        "experiment": path.stem,
        "seed": seed,
        "wanted": wanted,
        "judged": judged(done),
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
        "spreads": [asdict(spread) for spread in spreads],
    }
