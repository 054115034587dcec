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

from brownout.base.errors import UndoFailed
from brownout.base.termination import Terminated
from brownout.faults import open_runs
from brownout.measure.impact import UNKNOWN
from brownout.session.experiment_process import ExperimentProcess, Outcome

#: It has threads, as it would with numpy: as they die, the kernel gives the child a new parent.
STARTER = """
import sys, threading, time
from pathlib import Path
for _ in range(50):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
from brownout.base.termination import as_ctrl_c
from brownout.session.experiment_process import ExperimentProcess
with as_ctrl_c(), ExperimentProcess(Path(sys.argv[1])) as running:
    running.outcome()
"""


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "aborted"])
def test_a_run_that_was_aborted_is_known_as_such_whatever_its_verdict(verdict: str) -> None:
    """A game day, repeats and a search for capacity end with it."""
    told = replace(UNKNOWN, verdict=verdict, reasons=("blackout: 9 s", "aborted: a safeguard"))
    assert Outcome(None, told, None).was_aborted
    assert not Outcome(None, replace(UNKNOWN, reasons=("blackout: 9 s",)), None).was_aborted
    assert not Outcome(None, None, None).was_aborted


CLAIMING = """
import os
from pathlib import Path
from brownout.faults import open_runs

def claim(cluster, dies):
    open_runs.claim(cluster, Path(cluster), cluster, False)
    if dies:
        os._exit(1)
    open_runs.release(cluster)
"""


def claiming(folder: Path, *, dies: bool) -> Path:
    """Write an experiment that claims the cluster `ours`, and dies or lets go of it."""
    (folder / "claiming.py").write_text(CLAIMING)
    provider = {
        "type": "python", "module": "claiming", "func": "claim",
        "arguments": {"cluster": "ours", "dies": dies},
    }  # fmt: skip
    action = {"type": "action", "name": "claim", "provider": provider}
    path = folder / "experiment.json"
    path.write_text(json.dumps({"title": "t", "description": "d", "method": [action]}))
    return path


@pytest.mark.parametrize("dies", [True, False])
def test_only_the_death_of_its_own_run_leaves_a_cluster_unmended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, dies: bool
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with ExperimentProcess(claiming(tmp_path, dies=dies)) as running:
        open_runs.claim("another", tmp_path / "another", "another", brought_up=False)
        unmended = running.outcome().unmended
    open_runs.release("another")
    assert (unmended is not None) == dies
    assert unmended is None or str(tmp_path / "ours") in unmended


@pytest.mark.parametrize("repeats", ["id", "id and start"])
def test_the_claim_of_its_run_is_told_from_one_of_another_pod_whose_process_id_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: str
) -> None:
    """Pods that share a state volume count their processes, and the ticks of a node, alike."""
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    open_runs.claim("another", tmp_path / "another", "another", brought_up=False)
    theirs = tmp_path / "state" / "open" / "another.json"
    with ExperimentProcess(claiming(tmp_path, dies=True)) as running:
        before = running.claim()
        running.process.wait()
        ours = json.loads((tmp_path / "state" / "open" / "ours.json").read_text())
        same = ("pid",) if repeats == "id" else ("pid", "started")
        like_ours = json.loads(theirs.read_text()) | {key: ours[key] for key in same}
        theirs.write_text(json.dumps(like_ours))
        found = running.claim()
    assert before is None
    assert found is not None
    assert found.run == str(tmp_path / "ours")
    open_runs.release("another")


@pytest.mark.parametrize(
    ("dies", "stop", "end"),
    [
        (True, KeyboardInterrupt, UndoFailed),
        (True, Terminated, UndoFailed),
        (False, KeyboardInterrupt, KeyboardInterrupt),
        (False, Terminated, Terminated),
    ],
)
def test_a_ctrl_c_says_what_the_run_leaves_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    dies: bool,
    stop: type[BaseException],
    end: type[BaseException],
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def stopped() -> None:
        with ExperimentProcess(claiming(tmp_path, dies=dies)) as running:
            running.process.wait()
            raise stop

    with pytest.raises(end) as ended:
        stopped()
    assert ended.type is end
    assert (str(tmp_path / "ours") in str(ended.value)) == dies


def process(name: str, path: str, arguments: str | list[str]) -> dict[str, Any]:
    provider = {"type": "process", "path": path, "arguments": arguments}
    return {"type": "action", "name": name, "provider": provider}


@pytest.mark.parametrize(
    ("number", "received"),
    [(signal.SIGKILL, "Caught SIGTERM"), (signal.SIGTERM, "Caught SIGTERM"),
     (signal.SIGHUP, "Caught SIGTERM"), (signal.SIGINT, "(Ctrl-C)")],
    ids=["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"],
)  # fmt: skip
def test_whatever_ends_its_starter_ends_an_experiment_which_puts_everything_back(
    tmp_path: Path, number: signal.Signals, received: str
) -> None:
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
    with (tmp_path / "output").open("w") as output:
        starter = subprocess.Popen(command, cwd=tmp_path, stderr=output)
    try:
        await_true(begun.exists)
    finally:
        os.kill(starter.pid, number)
        starter.wait()
    if number == signal.SIGKILL:
        await_true(undone.exists)
    assert undone.exists(), "its starter did not wait for it"
    # Two would cut it short.
    assert (tmp_path / "output").read_text().count(received) == 1


def test_a_folder_with_a_file_called_like_a_module_of_ours_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("chaostoolkit", "brownout", "chaoslib", "json"):
        (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    document = {"title": "t", "description": "d", "method": [process("t", "touch", "ran")]}
    (tmp_path / "experiment.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    with ExperimentProcess(tmp_path / "experiment.json") as running:
        running.outcome()
    assert (tmp_path / "ran").exists()
    assert not (tmp_path / "executed").exists()


def test_without_its_starter_an_experiment_does_not_begin(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "brownout.base.leash", "1", "chaostoolkit", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the process that wanted this one is gone" in done.stderr
