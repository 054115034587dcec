"""An experiment in a process of its own ends, and puts everything back, when its starter dies."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.waiting import await_true

STARTER = """
import sys
from pathlib import Path
from brownout.session.experiment_process import ExperimentProcess
with ExperimentProcess(Path(sys.argv[1]), leashed=True) as running:
    running.outcome()
"""


def process(name: str, path: str, arguments: str) -> dict[str, Any]:
    provider = {"type": "process", "path": path, "arguments": arguments}
    return {"type": "action", "name": name, "provider": provider}


def test_an_experiment_whose_starter_is_killed_puts_everything_back(tmp_path: Path) -> None:
    begun, undone = tmp_path / "begun", tmp_path / "undone"
    document = {
        "title": "t",
        "description": "d",
        "runtime": {"rollbacks": {"strategy": "always"}},
        "method": [
            process("begin", "touch", str(begun)),
            {**process("rest", "true", ""), "pauses": {"before": 600}},
        ],
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


def test_without_its_starter_an_experiment_does_not_begin(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "brownout.base.leash", "1", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the process that wanted this experiment is gone" in done.stderr
