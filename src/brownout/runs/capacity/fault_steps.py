"""Steps in which something is broken: each is a run of an experiment, made by Chaos Toolkit.

The run's own machinery breaks, undoes and waits for redundancy; this module only chooses the rate
and judges what the run left.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import Aborted, ConfigurationError, Inconclusive, UndoFailed
from brownout.load.workload import Workload
from brownout.runs.capacity.fault_judgement import Faulted, judge_fault, unfit
from brownout.runs.capacity.judgement import TERMS, Terms
from brownout.runs.capacity.promises import promises_of, rates_of
from brownout.runs.capacity.search import Probe
from brownout.runs.capacity.step import Step, step_of
from brownout.runs.capacity.step_figures import Measured
from brownout.runs.repeats.draw import Draw
from brownout.runs.repeats.repeat import Repeat, run_once
from brownout.runs.run_set import FinishedRun

__all__ = ["FaultSteps", "fault_variables"]

#: The variables that the search itself sets.
_OWN = ("cluster", "workload", "load", "seed")


@dataclass(frozen=True, slots=True)
class FaultSteps:
    """Makes steps by running `experiment`, with `variables` as `--var` has them.

    `source` and `change` are the workload's name or path, and what is changed of it. `before` is
    called before each step and raises where the cluster is not whole. `lent` is open during the
    run, which claims the cluster for itself.
    """

    workload: Workload
    experiment: Path
    variables: tuple[str, ...]
    source: str
    change: str
    seed: int
    allowance_s: float
    terms: Terms = TERMS
    before: Callable[[], object] = lambda: None
    lent: Callable[[], AbstractContextManager[None]] = nullcontext

    def make(self, probe: Probe, number: int) -> Step:
        """Make one step.

        Raises `UndoFailed` where something stays broken, `Aborted` and `KeyboardInterrupt` where
        the run was ended early, `Inconclusive` where it never opened.
        """
        self.before()
        seed, rates = self.seed + number, rates_of(self.workload, probe.rate)
        changes = [f"streams.{name}.rate={rate}" for name, rate in rates.items()]
        load = ",".join([*filter(None, [self.change]), *changes])
        given = (f"workload={self.source}", f"load={load}", f"seed={seed}", *self.variables)
        with self.lent():
            repeat = run_once(self.experiment, Draw(number, seed, given))
            run = _checked(repeat, probe)
        step = self._judged(run)
        detail = {"out_s": dict(step.out_s), "judged_s": dict(step.judged_s)}
        return step_of(number, "faulted", probe, step.judgement, step.figures, step.lag_p99_ms,
                    run.path, detail)  # fmt: skip

    def _judged(self, run: FinishedRun) -> Faulted:
        bad = unfit(run.impact)
        if bad is not None:
            return Faulted(bad, (), None, {}, {})
        return judge_fault(
            Measured(run.path), run.impact, promises_of(self.workload), self.terms,
            self.allowance_s,
        )  # fmt: skip


def fault_variables(
    experiment: Mapping[str, Any], cluster: str, down_s: float, given: Sequence[str]
) -> tuple[str, ...]:
    """Return what every step of `experiment` is run with; raises `ConfigurationError`.

    `down_s` is how long the node stays down, where the experiment has that to choose.
    """
    declared = experiment.get("configuration", {})
    taken = {text.partition("=")[0].partition(":")[0] for text in given}
    problems = [f"--set {name}: the search itself sets it" for name in sorted(taken & set(_OWN))]
    if problems:
        raise ConfigurationError(problems)
    own = [f"cluster={cluster}"]
    if "downtime_s" in declared and "downtime_s" not in taken:
        own.append(f"downtime_s:float={down_s}")
    return (*own, *given)


def _checked(repeat: Repeat, probe: Probe) -> FinishedRun:
    """Return the run of a step, or raise why no other step may follow."""
    at = f"the run at {probe.rate:,.0f}/s"
    outcome, run = repeat.outcome, repeat.run
    if outcome.unmended:
        raise UndoFailed(f"{at} left the cluster broken: {outcome.unmended}", "`brownout heal`")
    if run is None:
        raise Inconclusive(f"{at} could not begin; what it said stands above")
    if outcome.was_aborted:
        raise Aborted(f"{at} was aborted: {'; '.join(run.impact.reasons)}")
    return run
