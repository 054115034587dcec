"""The `resilience` fixture: runs experiments, one process each, and judges what may be asserted."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout.base import catalog, usual
from brownout.base.errors import Aborted, ConfigurationError, Refused, UndoFailed
from brownout.runs.gate import baseline as baselines
from brownout.runs.gate import fit, words
from brownout.runs.gate.decision import Decision, decide
from brownout.runs.repeats.draw import Draw, draws
from brownout.runs.repeats.repeat import Repeat, again_of, check, run_all, too_few
from brownout.runs.run_set import FinishedRun, Runs
from brownout.session.experiment_checks import read_experiment
from brownout.session.experiment_process import ExperimentProcess, Outcome
from brownout.session.plan_file import plan_of
from brownout.testing.errors import ResilienceFailed, RunInconclusive
from brownout.testing.hold import Holds
from brownout.testing.impact import Impact

__all__ = ["Resilience"]

Note = Callable[[str, object], None]
#: What the results of the tests report of each run.
_TOLD = ("tps_drop", "blackout", "recovery_time", "lost_operations")


class Resilience:
    """Breaks things in a cluster and says what its users felt.

    Runs are on the first of `clusters` that no other worker has. `note` takes a property of the
    test; `holds` is None where no other worker can be there.
    """

    def __init__(
        self,
        clusters: Sequence[str],
        baseline: Path | None,
        note: Note,
        holds: Holds | None = None,
    ) -> None:
        self._clusters, self._note, self._holds = clusters, note, holds
        self._baseline = baselines.read(baseline) if baseline is not None else None
        self._failed: list[Impact] = []
        self._closed = False

    def run(
        self,
        experiment: str,
        cluster: str | None = None,
        *,
        limits: Mapping[str, float | str] | None = None,
        own_limits: bool = True,
        **variables: Any,
    ) -> Impact:
        """Run an experiment, by its file or as a shipped one, and return its impact.

        `limits` replace the experiment's (`{"recovery_time": 5, "write.blackout": "none"}`),
        `variables` are its own, as `chaos run --var` has them. A run that failed by its limits
        fails the test after its assertions, unless `own_limits` is False. Raises
        `RunInconclusive`, `Aborted`, `UndoFailed`, or `Refused` where it could not begin.
        """
        given = [_variable(name, value) for name, value in variables.items()]
        if limits:
            given.append("limits=" + ",".join(f"{k}={v}" for k, v in limits.items()))
        path = catalog.find_experiment(experiment)
        given += self._on(cluster)
        if _is_of_brownout(path):
            plan_of(str(path), given)  # raises with every mistake, before a process is made
        return self._impact(path, _outcome(path, given), own_limits)

    def repeat(
        self,
        experiment: str,
        times: int = 5,
        cluster: str | None = None,
        *,
        seed: int = 0,
        phase_max_s: float = 10.0,
        again: int | None = None,
        own_limits: bool = True,
        **variables: Any,
    ) -> list[Impact]:
        """Run an experiment several times, as `brownout repeat` does, each another moment.

        Return `times` runs that passed or failed. Inconclusive ones are kept and made again, up to
        `again` of them (`times` by default); `RunInconclusive` names them where that is too few. An
        aborted run is the last: `Aborted` is raised unless it was the last one wanted.
        """
        path = catalog.find_experiment(experiment)
        document = read_experiment(path)
        given = [_variable(name, value) for name, value in variables.items()] + self._on(cluster)
        further = again_of(again, times)
        own = seed or secrets.randbelow(999_999) + 1
        planned = draws(document, times + further, own, phase_max_s, tuple(given))
        if _is_of_brownout(path):
            further = check(path, planned, further)
        impacts: list[Impact] = []
        open_runs: list[str] = []

        def run(path: Path, draw: Draw) -> Repeat:
            outcome = _outcome(path, draw.variables)
            try:
                impacts.append(self._impact(path, outcome, own_limits))
            except RunInconclusive as error:
                open_runs.append(str(error))
            return Repeat(draw, outcome)

        done, stopped = run_all(path, planned, times, further, lambda line: None, run)
        shortfall = too_few(done, times, "`again`")
        if shortfall is None:
            return impacts
        if stopped:
            last = done[-1].outcome.directory
            raise Aborted(f"stopped after {len(done)} of {times} runs of {path}: {stopped}: {last}")
        raise RunInconclusive("\n".join([f"{path}: {shortfall}", *open_runs]))

    def gate(self, impacts: Sequence[Impact]) -> Decision:
        """Hold repeats against the baseline of `--resilience-baseline` or the marker.

        Raises `ResilienceFailed` with the gate's tables where it fails, `RunInconclusive` where it
        cannot decide.
        """
        if self._baseline is None:
            raise ConfigurationError(
                "there is no baseline to hold the runs against",
                "give --resilience-baseline FILE, or the marker resilience(baseline=FILE)",
            )
        runs = Runs(impact.finished for impact in impacts)
        fit.check(runs, self._baseline)
        decision = decide(runs, self._baseline)
        report = words.say(decision, runs, fit.remarks(runs, self._baseline))
        self._note("resilience.gate", decision.word)
        if decision.word == "fail":
            raise ResilienceFailed(report)
        if decision.word != "pass":
            raise RunInconclusive(report)
        return decision

    def check(self) -> None:
        """Raise `ResilienceFailed` for runs that failed by their own limits; once for each."""
        failed = self.forget()
        if failed:
            lines = [
                f"{impact!r}: {reason}\n  report: {impact.report}"
                for impact in failed
                for reason in impact.reasons
            ]
            raise ResilienceFailed(
                "\n".join(["runs failed by the experiment's own limits:", *lines,
                           "run(limits={…}) sets others, run(own_limits=False) judges by the "
                           "test's assertions alone"])
            )  # fmt: skip

    def forget(self) -> list[Impact]:
        """Return the runs that failed by their own limits and were not told of, as told of."""
        failed, self._failed = self._failed, []
        return failed

    def close(self) -> None:
        """The test is over: raise for what failed since it was, and from now on at once."""
        self._closed = True
        self.check()

    def _on(self, cluster: str | None) -> list[str]:
        """Return the variable that names the cluster, which is taken from other workers."""
        named = [cluster] if cluster else [*self._clusters]
        named = named or [name for name in [os.environ.get("BROWNOUT_CLUSTER")] if name]
        if self._holds is not None:
            taken = self._holds.take(named or [usual.CLUSTER])
            named = [taken] if named else []
        return [f"cluster={name}" for name in named[:1]]

    def _impact(self, path: Path, outcome: Outcome, own_limits: bool) -> Impact:
        """Return the impact of a run that was judged; note it if it failed by its own limits."""
        impact = self._judged(path, outcome)
        if impact.verdict == "fail" and own_limits:
            self._failed.append(impact)
        if self._closed:
            self.check()
        return impact

    def _judged(self, path: Path, outcome: Outcome) -> Impact:
        if outcome.unmended:
            raise UndoFailed(outcome.unmended, "`brownout heal` puts it back")
        if outcome.impact is None or outcome.directory is None:
            raise Refused(
                f"{path}: the run could not begin, nothing was touched",
                "its reason is in the captured output; `brownout plan` says it too",
            )
        impact = Impact(FinishedRun(outcome.directory, outcome.impact), self._baseline)
        self._tell(impact)
        reasons = "; ".join(impact.reasons)
        if impact.verdict == "aborted":
            raise Aborted(f"{impact!r}: {reasons}", f"report: {impact.report}")
        if impact.verdict == "inconclusive":
            raise RunInconclusive(f"{impact!r}: {reasons}", f"report: {impact.report}")
        return impact

    def _tell(self, impact: Impact) -> None:
        self._note("resilience.run", str(impact.path))
        self._note("resilience.verdict", impact.verdict)
        self._note("resilience.stand_in", str(impact.finished.impact.stand_in).lower())
        for name in _TOLD:
            value = impact.finished.impact.value(name)
            self._note(f"resilience.{name}", "no data" if value is None else f"{value:g}")


def _outcome(path: Path, variables: Sequence[str]) -> Outcome:
    """Run an experiment to its end, in a process of its own."""
    try:
        with ExperimentProcess(path, variables) as process:
            return process.outcome()
    except UndoFailed as error:  # after a Ctrl-C, which is to end the other tests as well
        raise KeyboardInterrupt(str(error)) from error


def _is_of_brownout(path: Path) -> bool:
    """Whether an experiment has our extension, and so a plan and limits."""
    extensions = read_experiment(path).get("extensions") or ()
    return any(isinstance(each, Mapping) and each.get("name") == "brownout" for each in extensions)


def _variable(name: str, value: Any) -> str:
    """`downtime_s:float=2.5`, as `chaos run --var` types it."""
    kinds = {bool: "bool", int: "int", float: "float"}
    kind = kinds.get(type(value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{name}:{kind}={text}" if kind else f"{name}={text}"
