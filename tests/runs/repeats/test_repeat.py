"""`brownout repeat` as a command, with real runs of Chaos Toolkit."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner
from tests.waiting import await_true
from tests.wording import mentions

from brownout.faults import open_runs
from brownout.machine import procfs


def on_silent_nodes(where: Path) -> dict[str, Any]:
    """Return an experiment that is sound, on a cluster of which no node answers."""
    nodes = [{"name": f"n{i}", "address": f"127.0.0.1:{i}",
              "host": {"pid_file": str(where / f"{i}.pid"), "command": ["mongod"]}}
             for i in (1, 2, 3)]  # fmt: skip
    cluster = where / "silent.yaml"
    cluster.write_text(json.dumps({
        "database": "mongodb", "environment": "test", "nodes": nodes,
        "connection": {"replica_set": "rs"},
    }))  # fmt: skip
    experiment = chaos_runner.load("node-kill")
    experiment["configuration"]["cluster"] = str(cluster)
    return experiment


def repeat(
    experiment: Mapping[str, Any], where: Path, *options: str
) -> tuple[int, dict[str, Any], str]:
    """Repeat an experiment; return the exit code, the JSON and what was said to people."""
    source = where / "experiment.json"
    source.write_text(json.dumps(experiment))
    done = subprocess.run(
        [sys.executable, "-m", "brownout", "repeat", str(source), "--json", *options],
        cwd=where,
        env={**os.environ, "BROWNOUT_RUNS": str(where / "runs")},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_a_run_that_could_not_begin_is_the_last(tmp_path: Path) -> None:
    code, document, said = repeat(on_silent_nodes(tmp_path), tmp_path, "-n", "3", "--seed", "7")
    assert code == 2
    assert [each["verdict"] for each in document["repeats"]] == ["not run"]
    assert "stopped after 1 of 3" in said
    assert document["seed"] == 7


def test_what_could_not_begin_at_all_is_refused_before_the_first_run(tmp_path: Path) -> None:
    experiment = on_silent_nodes(tmp_path)
    experiment["configuration"] |= {"downtime_s": "soon", "no_such": 1}
    code, document, said = repeat(experiment, tmp_path, "-n", "3")
    assert (code, document) == (64, {})
    assert "configuration.downtime_s: found 'soon'" in said
    assert "configuration.no_such: not a setting" in said


#: Leaves a claim as the `chaos run` above it would have made it.
LEAVES_A_CLAIM = """
import json, os, pathlib, sys
pid, words = os.getppid(), []
while "--journal-path" not in words:
    process = pathlib.Path(f"/proc/{pid}")
    words = process.joinpath("cmdline").read_bytes().decode().split(chr(0))[:-1]
    pid = int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
claim = json.loads(pathlib.Path(sys.argv[1]).read_text())
pathlib.Path(sys.argv[2]).write_text(json.dumps({**claim, "command": words}))
"""


def test_a_cluster_that_is_not_mended_is_not_broken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("BROWNOUT_STATE", str(state))
    open_runs.claim("left", tmp_path / "runs" / "died", "left", brought_up=False)
    (state / "open" / "left.json").rename(tmp_path / "claim.json")
    (tmp_path / "leave.py").write_text(LEAVES_A_CLAIM)
    names = f"{tmp_path}/leave.py {tmp_path}/claim.json {state}/open/left.json"
    leaves = {"type": "process", "path": sys.executable, "arguments": names}
    rollback = {"type": "action", "name": "leave a claim", "provider": leaves}
    experiment = {**on_silent_nodes(tmp_path), "rollbacks": [rollback]}
    code, document, _ = repeat(experiment, tmp_path, "-n", "3")
    assert code == 4
    assert len(document["repeats"]) == 1
    assert mentions(document["repeats"][0]["unmended"], tmp_path / "runs" / "died")


#: A control that never comes to the run's own, as a baseline takes its time.
WAITING = """
import os, pathlib, time

def before_experiment_control(context, **_):
    pathlib.Path(os.environ["BEGUN"]).write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("command", [["repeat", "-n", "2"], ["sweep", "--vary", "seed=1,2"]])
def test_a_signal_to_the_command_alone_ends_its_run_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], number: signal.Signals
) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "waiting.py").write_text(WAITING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BEGUN", str(begun))
    waits = {"name": "wait", "provider": {"type": "python", "module": "waiting"}}
    experiment = on_silent_nodes(tmp_path)
    experiment["controls"] = [waits, *experiment["controls"]]
    (tmp_path / "experiment.json").write_text(json.dumps(experiment))
    name, *options = command
    running = subprocess.Popen(
        [sys.executable, "-m", "brownout", name, "experiment.json", *options],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await_true(lambda: begun.exists() and begun.read_text())
    finally:
        running.send_signal(number)
        code = running.wait(60)
    assert code == 3
    assert procfs.identify(int(begun.read_text())) is None


@pytest.mark.matrix
@pytest.mark.quiet
def test_repeats_have_other_nodes_and_moments_and_a_spread(
    lab_mongodb: object, tmp_path: Path
) -> None:
    experiment = chaos_runner.quick(chaos_runner.load("node-kill"), chaos_runner.LEAST_BASELINE_S)
    experiment["configuration"]["sham"] = True
    code, document, said = repeat(experiment, tmp_path, "-n", "2", "--seed", "3")
    assert code in (0, 1), said
    assert len({each["seed"] for each in document["repeats"]}) == 2
    found = {spread["measure"]: spread for spread in document["spreads"]}
    assert len(found["blackout"]["values"]) == 2
    for each in document["repeats"]:
        impact = json.loads((Path(each["run"]) / "impact.json").read_text())
        assert len(impact["shams"]) == 1
        assert impact["faults"][0]["requested"] > impact["shams"][0]["end"]
