"""One experiment of ours as Litmus runs one: told by variables, its verdict in a ChaosResult.

engine ──▶ its probes, our limits ──▶ Running ──▶ `chaos run` ──▶ verdict ──▶ ChaosResult
"""

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from brownout.base import catalog
from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.faults import heal, open_runs
from brownout.faults.litmus.surroundings import Surroundings
from brownout.litmus.declarations import declared_limits, probes_of
from brownout.litmus.names import probe_name
from brownout.litmus.reporter import Reporter
from brownout.litmus.status import DIED, NOT_RUN, Told, broken_off, started, tell
from brownout.litmus.variables import variables
from brownout.session.experiment_process import ExperimentProcess, Outcome
from brownout.session.plan_file import plan_of

__all__ = ["conduct"]

Say = Callable[[str], None]
_WHOLE_WITHIN_S = 300.0


def conduct(
    experiment: str,
    here: Surroundings,
    reporter: Reporter,
    environment: Mapping[str, str],
    say: Say,
) -> Told:
    """Run `experiment` to its end, tell Litmus, and return what was told.

    A pod that its job starts again breaks nothing a second time: it puts back what the first one
    had broken, as far as that is known here, and tells that nothing is known.
    """
    path = catalog.find_experiment(experiment)
    report = _report(path, here, reporter, environment, say)
    with _deaf():
        reporter.tell(report)
    return report


def _report(
    path: Path, here: Surroundings, reporter: Reporter, environment: Mapping[str, str], say: Say
) -> Told:
    try:
        if reporter.died_before():
            return _died(say)
        given, names = _prepared(path, here, reporter.engine, environment)
        reporter.tell(started(names))
    except KeyboardInterrupt:
        return tell(None, None, stopped=True)
    except ConfigurationError as error:
        say(str(error))
        return broken_off(NOT_RUN, str(error))
    return _run(path, given)


def _prepared(
    path: Path, here: Surroundings, engine: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return the run's variables, and the names of its limits; nothing is touched."""
    _, document = plan_of(str(path), [])
    given = variables(environment, document.get("configuration", {}))
    plan, _ = plan_of(str(path), given)
    streams = [stream.name for stream in plan.workload.streams]
    wanted = declared_limits(probes_of(engine, here.experiment), plan.limits, streams)
    if wanted:
        given.append("limits=" + ",".join(f"{name}={value!r}" for name, value in wanted.items()))
        plan, _ = plan_of(str(path), given)
    return given, [probe_name(limit.measure, limit.scope) for limit in plan.limits]


def _run(path: Path, given: list[str]) -> Told:
    with ExperimentProcess(path, given, occasion="litmus") as process:
        outcome, stopped = _outcome(process)
    return tell(outcome.impact, outcome.unmended, stopped)


def _outcome(process: ExperimentProcess) -> tuple[Outcome, bool]:
    """Wait for the end; a SIGTERM is passed on to the run, which puts everything back first."""
    try:
        return process.outcome(), False
    except KeyboardInterrupt as stop:
        process.end(type(stop))
        with _deaf():
            return process.outcome(), True


def _died(say: Say) -> Told:
    """Put back what the pod before had broken, where this one shares its state."""
    reason = "the pod of this run died and was started again; nothing was broken a second time"
    dead = [claim for claim in open_runs.claims() if not claim.is_alive()]
    if not dead:
        reason += "; it left no record here of what it had broken: look at the cluster"
    for claim in dead:
        try:
            healed = heal.heal(claim, _WHOLE_WITHIN_S, say)
            reason += f"; put back on {healed.cluster}: {healed.mended or 'nothing was broken'}"
        except BrownoutError as error:
            reason += f"; NOT put back on {claim.cluster}: {error}"
    say(reason)
    return broken_off(DIED, reason)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """From here on a SIGTERM changes nothing: what it asks for is being done."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
