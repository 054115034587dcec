"""An experiment in a process of its own ends, and puts everything back, when its starter dies."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import await_true

from brownout.measure.impact import UNKNOWN
from brownout.session.experiment_process import Outcome

#: It has threads, as it would with numpy: as they die, the kernel gives the child a new parent.
STARTER = """
import sys, threading, time
from pathlib import Path
for _ in range(50):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
from brownout.session.experiment_process import ExperimentProcess
with ExperimentProcess(Path(sys.argv[1]), leashed=True) as running:
    running.outcome()
"""


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "aborted"])
def test_a_run_that_was_aborted_is_known_as_such_whatever_its_verdict(verdict: str) -> None:
    """A game day, repeats and a search for capacity end with it."""
    told = replace(UNKNOWN, verdict=verdict, reasons=("blackout: 9 s", "aborted: a safeguard"))
    assert Outcome(None, told, None).was_aborted
    assert not Outcome(None, replace(UNKNOWN, reasons=("blackout: 9 s",)), None).was_aborted
    assert not Outcome(None, None, None).was_aborted


def process(name: str, path: str, arguments: str | list[str]) -> dict[str, Any]:
    provider = {"type": "process", "path": path, "arguments": arguments}
    return {"type": "action", "name": name, "provider": provider}


def test_an_experiment_whose_starter_is_killed_puts_everything_back(tmp_path: Path) -> None:
    begun, undone = tmp_path / "begun", tmp_path / "undone"
    document = {
        "title": "t",
        "description": "d",
        "runtime": {"rollbacks": {"strategy": "always"}},
        "method": [process("rest", "sh", ["-c", f"touch {begun}; exec sleep 600"])],
        "rollbacks": [process("undo", "touch", str(undone))],
    }
    (tmp_path / "experiment.json").write_text(json.dumps(document))
    command = [sys.executable, "-c", STARTER, str(tmp_path / "experiment.json")]
    with (tmp_path / "said").open("w") as said:
        starter = subprocess.Popen(command, cwd=tmp_path, stderr=said)
    try:
        await_true(begun.exists)
    finally:
        os.kill(starter.pid, signal.SIGKILL)
        starter.wait()
    await_true(undone.exists)
    assert (tmp_path / "said").read_text().count("Caught SIGTERM") == 1  # two would cut it short


def test_without_its_starter_an_experiment_does_not_begin(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "brownout.base.leash", "1", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the process that wanted this experiment is gone" in done.stderr
