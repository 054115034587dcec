"""Run `chaos run` for real, in a process of its own, and read what it left."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import forked_run

#: What a run on a busy machine has to show as well.
PROVEN = ("cluster_whole_at_start", "fault_landed", "method_completed", "identities_exact",
          "ledger_known")  # fmt: skip
#: A load that a busy machine carries, and data that are there and read back in no time.
LOAD = "streams.lookups.rate=40,streams.orders.rate=20,streams.orders.ledger_keys=500,data.keys=500"
GENTLY = ("--var", f"load={LOAD}")
#: With a shorter baseline no run is a pass.
LEAST_BASELINE_S = 10
EXPERIMENTS = Path(__file__).parents[1] / "experiments"


@dataclass(frozen=True)
class Ran:
    """One finished `chaos run`: exit code, what it printed, its journal and its run directory."""

    code: int
    output: str
    journal: dict[str, Any]
    directory: Path | None

    @property
    def impact(self) -> dict[str, Any]:
        assert self.directory is not None, self.output
        loaded: dict[str, Any] = json.loads((self.directory / "impact.json").read_text())
        return loaded

    @property
    def events(self) -> list[dict[str, Any]]:
        assert self.directory is not None, self.output
        text = (self.directory / "events.ndjson").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def deeds(self) -> list[tuple[str, str | None]]:
        """What was broken, changed and mended, each with its node, in the order of its proof."""
        return [(e["name"], e["node"]) for e in self.events if e["stage"] == "effective"]

    def check_proven(self) -> None:
        """Every step is proven and nothing is missing; how busy the machine was does not count."""
        conditions = {check["name"]: check for check in self.impact["validity"]}
        for name in PROVEN:
            assert conditions[name]["ok"], conditions[name]

    def check_limits_answered(self) -> None:
        """The hypothesis had one answer, with each limit as the verdict has it."""
        probes = self.journal["steady_states"]["after"]["probes"]
        (answer,) = [p["output"] for p in probes if p["activity"]["name"] == "limits-are-met"]
        answered = [(each["measure"], each["scope"], each["met"]) for each in answer["limits"]]
        judged = [(slo["name"], slo["scope"], slo["met"]) for slo in self.impact["slos"]]
        assert sorted(answered, key=str) == sorted(judged, key=str)
        assert answered, self.output

    def check_passed(self) -> None:
        """It is a pass, without the loss of one of many acknowledged writes."""
        assert self.impact["verdict"] == "pass", self.output
        assert self.code == 0
        self.check_limits_answered()
        assert self.impact["ledger"]["state"] == "clean"
        assert self.impact["ledger"]["acknowledged"] > 500


def load(name: str) -> dict[str, Any]:
    """Return a shipped experiment, to change it."""
    loaded: dict[str, Any] = json.loads((EXPERIMENTS / f"{name}.json").read_text())
    return loaded


def quick(experiment: dict[str, Any], baseline_s: float = 3) -> dict[str, Any]:
    """Give it a small load, a short baseline, and less time to hold than a busy machine may take.

    For tests of what happens, not of what it measures. For a pass the baseline has to be
    `LEAST_BASELINE_S` at least.
    """
    experiment["configuration"]["baseline_s"] = baseline_s
    experiment["configuration"]["milestone_limit_s"] = 90
    small = {"type": "env", "key": "BROWNOUT_LOAD", "default": LOAD}
    experiment["configuration"].setdefault("load", small)
    return experiment


def run_quickly(name: str, where: Path, cluster: str, **variables: Any) -> Ran:
    """Run a shipped experiment with a short baseline, a low rate and these variables by `--var`."""
    given = [word for each, value in variables.items() for word in ("--var", f"{each}={value}")]
    return run(quick(load(name)), where, "--var", f"cluster={cluster}", *GENTLY, *given)


def start(
    experiment: Mapping[str, Any], where: Path, *options: str, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start `chaos run` of `experiment` in the folder `where`, forked where that is possible."""
    source = where / "experiment.json"
    source.write_text(json.dumps(experiment))
    command = ["chaostoolkit", "--no-version-check", "run", *options, str(source)]
    own = {"BROWNOUT_RUNS": str(where / "runs"), **(env or {})}
    return forked_run.start(command, env=own, cwd=where, stderr=subprocess.STDOUT)


def finish(process: subprocess.Popen[str], where: Path, timeout_s: float = 240.0) -> Ran:
    """Wait for a started run and read what it left."""
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.terminate()  # it puts back what it broke, which other tests need
        output, _ = process.communicate(timeout=60)
        raise AssertionError(f"the run had not ended after {timeout_s:.0f} s: {output}") from None
    journal = where / "journal.json"
    runs = sorted((where / "runs").glob("*")) if (where / "runs").is_dir() else []
    if runs:
        check_private(runs[-1])
    return Ran(
        process.returncode,
        output,
        json.loads(journal.read_text()) if journal.exists() else {},
        runs[-1] if runs else None,
    )


def check_private(directory: Path) -> None:
    """No other account may read a run's files, whatever the umask; its page is made to be shown."""
    shared = [p.name for p in directory.rglob("*") if p.stat().st_mode & 0o077]
    assert set(shared) <= {"report.html"}, shared


def run(
    experiment: Mapping[str, Any], where: Path, *options: str, env: Mapping[str, str] | None = None
) -> Ran:
    """Run `experiment` to its end."""
    return finish(start(experiment, where, *options, env=env), where)


def run_as_shipped(
    name: str,
    where: Path,
    cluster: str = "",
    *options: str,
    timeout_s: float = 240.0,
    **environment: str,
) -> Ran:
    """Run a shipped experiment on a lab of its own, which it brings up and takes down."""
    where.mkdir(exist_ok=True)
    place = {"BROWNOUT_LAB_DIR": str(where / "lab"), "BROWNOUT_STATE": str(where / "state")}
    if cluster:
        options = ("--var", f"cluster={cluster}", *options)
    process = start(load(name), where, *options, env={**place, **environment})
    ran = finish(process, where, timeout_s)
    print(ran.output)  # `pytest -rP` shows the table
    assert list((where / "lab").iterdir()) == []
    return ran
