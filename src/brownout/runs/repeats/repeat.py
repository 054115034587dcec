"""Repeats: one experiment after the other, each run to its end with what was drawn for it.

A run that cannot be judged says nothing about the fault. It is kept, named and made again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.runs.repeats.draw import Draw
from brownout.runs.run_set import JUDGED, FinishedRun, Runs
from brownout.session.experiment_process import ExperimentProcess, Outcome
from brownout.session.plan_file import plan_of

__all__ = [
    "Repeat",
    "again_of",
    "check",
    "finished",
    "judged",
    "not_judged",
    "run_all",
    "run_once",
    "too_few",
]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat that is over."""

    draw: Draw
    outcome: Outcome

    @property
    def run(self) -> FinishedRun | None:
        """Its run, or None where it never opened one."""
        outcome = self.outcome
        if outcome.directory is None or outcome.impact is None:
            return None
        return FinishedRun(outcome.directory, outcome.impact)

    @property
    def target(self) -> str:
        """The node that was broken."""
        return (self.outcome.impact.target if self.outcome.impact else None) or "–"

    @property
    def words(self) -> str:
        """`  2  seed 81,123  n1  pass  runs/…`."""
        where = str(self.outcome.directory or "no run was opened")
        seed = f"seed {self.draw.seed:6}"
        return f"{self.draw.number:3}  {seed}  {self.target}  {self.outcome.verdict}  {where}"

    @property
    def stops(self) -> str | None:
        """Why no other repeat may follow."""
        if self.outcome.unmended:
            return f"the cluster is still broken: {self.outcome.unmended}; `brownout heal` it first"
        if self.outcome.impact is None:
            return "the run could not begin, and the next one would not either"
        return "the run was aborted" if self.outcome.was_aborted else None


def finished(repeats: Sequence[Repeat]) -> Runs:
    """Return the runs that measured something: those that were judged, or all where none was."""
    runs = Runs(run for repeat in repeats if (run := repeat.run) is not None)
    return runs.judged or runs


def judged(repeats: Sequence[Repeat]) -> int:
    """Return how many of them passed or failed."""
    return sum(repeat.outcome.verdict in JUDGED for repeat in repeats)


def not_judged(repeats: Sequence[Repeat]) -> list[str]:
    """Name each run that could not be judged, with its first reason; all are kept.

    They are not counted among those that were judged; where none was judged, all are counted.
    """
    runs = [repeat.run for repeat in repeats if repeat.outcome.verdict not in JUDGED]
    head = "not counted" if judged(repeats) else "not judged"
    return [
        f"{head}: {run.path} is {run.verdict}: "
        f"{next(iter(run.impact.reasons), 'no reason is recorded')}"
        for run in runs
        if run is not None
    ]


def too_few(repeats: Sequence[Repeat], wanted: int, option: str = "--again") -> str | None:
    """Say that fewer than `wanted` runs were judged and what to do; None where enough were.

    `option` is what sets how many further runs there may be.
    """
    count = judged(repeats)
    if count >= wanted:
        return None
    runs = [run for repeat in repeats if (run := repeat.run) is not None]
    advice = f"the others are kept and named; remove their reason, or raise {option}"
    if runs and not any(run.limits for run in runs):
        advice = "no limit judges these runs; set one"
    return f"{count} of {wanted} runs were judged after {len(repeats)}; {advice}"


def again_of(given: int | None, times: int) -> int:
    """Return how many further runs may replace inconclusive ones."""
    return times if given is None else given


def check(experiment: Path, planned: Sequence[Draw], again: int) -> int:
    """Return how many of `again` further runs make sense: none where no limit can judge a run.

    Raises `ConfigurationError` where one of the repeats could not begin, before any does.
    """
    plans = [plan_of(str(experiment), draw.variables)[0] for draw in planned]
    return again if all(plan.limits for plan in plans) else 0


def run_all(
    experiment: Path,
    planned: Sequence[Draw],
    wanted: int,
    again: int,
    say: Callable[[str], object],
    run: Callable[[Path, Draw], Repeat] | None = None,
) -> tuple[list[Repeat], str | None]:
    """Run one repeat after the other until `wanted` are judged, with up to `again` more than that.

    Return them and why the last stopped the others. `say` gets a line for each; `run` makes one.
    """
    done: list[Repeat] = []
    for draw in planned[: wanted + again]:
        if judged(done) == wanted:
            break
        done.append((run or run_once)(experiment, draw))
        say(done[-1].words)
        if why := done[-1].stops:
            return done, why
    return done, None


def run_once(experiment: Path, draw: Draw) -> Repeat:
    """Run `experiment` to its end with what was drawn. Its words go where ours go, to stderr."""
    with ExperimentProcess(experiment, draw.variables) as process:
        return Repeat(draw, process.outcome())
