"""The gate for real: five faults each on a real replica set, pinned, unchanged, and made slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.chaos_runner import LOAD

from brownout.runs.run_set import FinishedRun, Runs

#: More than five: on a busy machine some repeats cannot be judged, and the gate takes none of them.
MOST = 12
WANTED = 5
GENTLY = ("--set", "target=primary", "--set", "baseline_s:int=10", "--set", f"load={LOAD}")

pytestmark = [pytest.mark.matrix, pytest.mark.quiet, pytest.mark.timeout(3600)]


def brownout(where: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    own = {"BROWNOUT_LAB_DIR": "lab", "BROWNOUT_STATE": "state", "BROWNOUT_RUNS": "runs"}
    environment = {**os.environ, **{name: str(where / part) for name, part in own.items()}}
    environment.pop("BROWNOUT_CLUSTERS", None)
    command = [sys.executable, "-m", "brownout", *map(str, arguments)]
    return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)


def faults(where: Path, election_timeout_ms: int, seed: int) -> list[FinishedRun]:
    """Kill the primary until five runs could be judged, on a lab of its own."""
    where.mkdir()
    up = brownout(where, "lab", "up", "--election-timeout", f"{election_timeout_ms}ms")
    assert up.returncode == 0, up.stderr
    judged: list[FinishedRun] = []
    try:
        for n in range(MOST):
            brownout(where, "repeat", "node-kill", "-n", "1", "--seed", str(seed + n), *GENTLY)
            found = Runs.read(sorted((where / "runs").iterdir()))
            judged = [run for run in found if run.verdict in ("pass", "fail")]
            if len(judged) == WANTED:
                return judged
    finally:
        brownout(where, "lab", "down")
    pytest.fail(f"only {len(judged)} of {MOST} runs could be judged: the machine is too busy")


def test_a_release_that_elects_later_is_stopped_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    pinned = faults(tmp_path / "pinned", 2000, 100)
    same = faults(tmp_path / "same", 2000, 200)
    slower = faults(tmp_path / "slower", 4000, 300)
    file = tmp_path / "baseline.yaml"
    measures = [part for name in ("blackout", "recovery_time", "lost_seconds")
                for part in ("--measure", name)]  # fmt: skip
    made = brownout(tmp_path, "baseline", "pin", *(run.path for run in pinned), *measures,
                    "-o", file)  # fmt: skip
    assert made.returncode == 0, made.stderr
    passed = brownout(tmp_path, "gate", "--baseline", file, *(run.path for run in same))
    print(passed.stdout)
    failed = brownout(tmp_path, "gate", "--baseline", file, *(run.path for run in slower))
    print(failed.stdout)
    assert passed.returncode == 0, passed.stdout
    assert failed.returncode == 1, failed.stdout
    assert "blackout: worse than allowed" in failed.stdout
