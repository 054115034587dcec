"""Steps with nothing broken: a load at one rate for a time, judged when it is over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.load.place import Here, Place
from brownout.load.session import run_load
from brownout.load.workload import Workload
from brownout.run.metadata import read_json
from brownout.run.parts.apart import apart_of
from brownout.runs.capacity.judgement import TERMS, Judgement, Terms, judge
from brownout.runs.capacity.promises import promises_of, scaled
from brownout.runs.capacity.search import Probe
from brownout.runs.capacity.step import Step, step_of
from brownout.runs.capacity.step_figures import Measured, measured_in

__all__ = ["Lengths", "WholeSteps"]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Seconds: of a step, of the long run, and at the beginning of each that are not judged."""

    step_s: float = 30.0
    confirm_s: float = 600.0
    settle_s: float = 5.0


@dataclass(frozen=True, slots=True)
class WholeSteps:
    """Makes steps on a cluster in which nothing is broken.

    `target` is an adapter's `load_spec()`, `places` says where the generators of a directory run;
    `before` is called before each step and raises where the cluster is not fit for one.
    """

    workload: Workload
    target: Callable[[], Mapping[str, Any]]
    directory: Path
    seed: int
    lengths: Lengths
    terms: Terms = TERMS
    before: Callable[[], object] = lambda: None
    places: Callable[[Path], Sequence[Place]] = lambda _: (Here(),)

    def make(self, probe: Probe, number: int) -> Step:
        """Make one step; raises `KeyboardInterrupt` where a person cut it short."""
        self.before()
        run = _fresh(self.directory / "steps" / f"{number:03}-{probe.rate:.0f}")
        length = self.lengths.confirm_s if probe.kind == "confirm" else self.lengths.step_s
        workload = scaled(self.workload, probe.rate)
        result = run_load(
            workload, self.target(), run, self.lengths.settle_s + length, seed=self.seed + number,
            read_back=False, places=self.places(run),
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt
        return self.judged(probe, number, run, workload)

    def judged(self, probe: Probe, number: int, run: Path, workload: Workload) -> Step:
        """Judge the files of a step that is over."""
        measured, promises = Measured(run), promises_of(workload)
        seconds = measured_in(self.lengths.settle_s, float("inf"), measured.seconds)
        figures = tuple(measured.figures(s.name, promises, seconds) for s in workload.streams)
        lag = measured.lag_p99_ms(seconds)
        judgement = judge(figures, promises, self.terms, lag)
        summary = run / "generator.json"
        apart = apart_of(read_json(summary)) if summary.exists() else None
        if apart is not None and not apart.together:
            judgement = Judgement("limited", (apart.words(),))
        return step_of(number, "whole", probe, judgement, figures, lag, run)


def _fresh(run: Path) -> Path:
    """Return a directory that is not there yet: a step that was cut short left its own."""
    tries = (run, *(run.with_name(f"{run.name}-again{n}") for n in range(1, 1000)))
    return next(path for path in tries if not path.exists())
