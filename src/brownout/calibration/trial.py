"""Drive the real generator at the real scripted server, and have the run analysed as any other."""

import csv
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brownout.base.binary import find_loadgen, loadgen_version
from brownout.base.errors import GeneratorError
from brownout.base.wait import wait_until
from brownout.calibration.layout import Placed, RunPlan
from brownout.calibration.scenario import Setup
from brownout.calibration.truth import Truth, read_truth
from brownout.judge.analysis import analyze, load_run
from brownout.load import workload as workloads
from brownout.load.generator import Generator
from brownout.load.workload import Workload
from brownout.measure import Impact, MeasureSettings, assess
from brownout.measure.assess import Findings
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog

__all__ = ["TRUTH", "Driven", "drive", "measure", "scripted_server", "workload_of"]

#: The server's own account, in the run directory.
TRUTH = "truth.json"
_PATIENCE_S = 30.0
#: So long after an effect, what it held back may still come.
_AFTER_S = 0.2
#: A run of ten minutes is a few megabytes.
_LEAST_FREE_BYTES = 20_000_000
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Driven:
    """A run that is over: what was measured, twice, and what the server says it did.

    `by_throughput` are the same raw files measured as if nothing but
    `ok` was known. `lags` says from which second on the generator was how late at worst, and
    `responses` from which tenth of a second on an operation that was served took how long at worst;
    all in seconds.
    """

    plan: RunPlan
    truth: Truth
    impact: Impact
    by_throughput: Findings
    lags: tuple[tuple[float, float], ...]
    responses: tuple[tuple[float, float], ...]

    @property
    def starved(self) -> str | None:
        """Why the run says nothing about the measures; None where it does."""
        wanted = ["generator_finished", "identities_exact"]
        # A ledger is as good from a late generator.
        remarks = list(self.impact.remarks) if self.plan.setup.baseline else []
        if self.plan.setup.baseline:
            wanted.append("generator_not_starved")
            # Without all of its baseline, nothing that is made of throughput is measured.
            missed = [t for t in self.impact.baseline.tests if t.name == "missed" and not t.ok]
            remarks += [f"{test.name} in the baseline: {test.detail}" for test in missed]
        bad = self.impact.unmet(wanted)
        return "; ".join([*remarks, *(f"{c.name}: {c.detail}" for c in bad)]) or None

    def latest(self, start: float, end: float) -> float:
        """Return how late the generator was at worst between two times, in seconds."""
        return max((lag for t, lag in self.lags if start - 1.0 < t < end), default=0.0)

    def held_up(self, placed: Placed) -> float:
        """Return how long an operation was held up at worst that no effect of the server's hit.

        That is by the machine: a client may stand still, and the generator is not late by that. In
        seconds, around the time of `placed`.
        """
        losses = self.truth.losses(placed.effects)
        longest = max(
            (
                response
                for t, response in self.responses
                if placed.at - 1.0 < t < placed.until
                and not any(loss.start - 0.1 < t < loss.end + _AFTER_S for loss in losses)
            ),
            default=0.0,
        )
        return max(0.0, longest - self.plan.setup.latency_ms / 1000)


def drive(
    plan: RunPlan, directory: Path, settings: MeasureSettings, progress: Progress | None = None
) -> Driven:
    """Make one run of `plan`, with its files below `directory`. Raises `GeneratorError`.

    `progress` gets how many seconds of the schedule are over.
    """
    run = RunDirectory.create(plan.setup.name, plan.seed, directory, _LEAST_FREE_BYTES)
    workload, truth = workload_of(plan.setup), run.path / TRUTH
    _write_record(run, plan, workload, settings)
    with scripted_server(run.path, plan.script, truth) as address:
        spec = workload.to_spec(
            directory=run.path, seed=plan.seed, writer=run.run_id, driver="scripted",
            connection={"uri": f"scripted://{address}"}, options={},
        )  # fmt: skip
        with Generator(run.path) as generator:
            generator.open(spec)
            generator.load()
            generator.start()
            _wait(generator, plan.seconds, progress)
            generator.stop()
            if plan.setup.ledger_keys:
                generator.verify()
    _write_events(run, plan)
    return measure(plan, run)


def measure(plan: RunPlan, run: RunDirectory) -> Driven:
    """Measure a run of `plan` that is over, from its files; may be repeated."""
    data = load_run(run, run.read_metadata())
    closed = frozenset(stream.name for stream in data.streams)
    blind = replace(data, series=replace(data.series, closed=closed))
    impact = analyze(run.path)
    return Driven(plan, read_truth(run.path / TRUTH), impact, assess(blind), tuple(_lags(run)),
                  tuple(_responses(run)))  # fmt: skip


def workload_of(setup: Setup) -> Workload:
    """Return the load of a setup."""
    stream: dict[str, Any] = {
        "name": "app",
        "mix": {"update": 100} if setup.ledger_keys else {"read": 70, "update": 30},
        "rate": setup.rate,
        "arrivals": setup.arrivals,
        "deadline_s": setup.deadline_s,
    }
    if setup.ledger_keys or setup.client:
        stream |= {"verified": True, "ledger_keys": setup.ledger_keys or setup.keys}
    if setup.client:
        stream["client"] = {"command": [str(find_loadgen()), "script-client"], "write_once": True}
    data = {"keys": setup.keys, "value_bytes": 64}
    return workloads.parse({"data": data, "streams": [stream]}, setup.name)


@contextmanager
def scripted_server(directory: Path, script: Any, truth: Path) -> Iterator[str]:
    """Serve `script`; yield the address. The truth is whole when the block is left."""
    path = directory / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    with subprocess.Popen(
        [find_loadgen(), "serve", path, "--truth", truth], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise GeneratorError(f"the scripted server did not start on `{path}`")
            yield str(json.loads(line)["address"])
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)


def _wait(generator: Generator, seconds: float, progress: Progress | None) -> None:
    def over() -> bool:
        if (now := generator.now() or 0.0) >= seconds:
            return True
        if not generator.alive:
            raise GeneratorError("the load generator died under the load")
        if progress is not None:
            progress(now)
        return False

    wait_until(over, every_s=0.1)


def _lags(run: RunDirectory) -> Iterator[tuple[float, float]]:
    with run.generator_series.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield float(row["t"]), float(row["lag_max_ms"]) / 1000


def _responses(run: RunDirectory) -> Iterator[tuple[float, float]]:
    with run.series.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield float(row["t"]), float(row["max_us"]) / 1_000_000


def _write_record(
    run: RunDirectory, plan: RunPlan, workload: Workload, settings: MeasureSettings
) -> None:
    run.write_metadata(
        {
            "versions": {"generator": loadgen_version()},
            "seed": plan.seed,
            "experiment": {"name": "calibration", "title": plan.setup.name},
            "cluster": {"name": "scripted server", "database": "scripted"},
            "workload": workload.public(),
            "settings": settings.as_dict(),
        }
    )


def _write_events(run: RunDirectory, plan: RunPlan) -> None:
    """Write each fault down as a run does, with the times that it was scripted for."""
    now = 0.0
    log = EventLog(run.events, lambda: now)
    log.point("check", "cluster_whole", ok=True, detail={})
    for placed in plan.placed:
        for kind, now in (("break", placed.at), ("mend", placed.at + placed.scenario.length_s)):
            if kind == "mend" and placed.scenario.last:
                continue
            entry = log.intent(kind, placed.scenario.name)
            log.effective(entry, now, 0.0, {"scripted": True})
            log.ended(entry)
        if not placed.scenario.last:
            log.point("milestone", "redundant", last_no=placed.at, first_yes=now)
    log.point("phase", "load_stopped", t=plan.seconds)
    log.point("phase", "put_back", t=plan.seconds)
