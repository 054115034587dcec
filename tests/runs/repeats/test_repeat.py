"""`brownout repeat` as a command, with real runs of Chaos Toolkit."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner
from tests.impacts import made
from tests.waiting import await_true
from tests.wording import mentions

from brownout.cli.repeat import code_of
from brownout.faults import open_runs
from brownout.machine import procfs
from brownout.runs.repeats.draw import Draw, draws
from brownout.runs.repeats.repeat import (
    Repeat,
    finished,
    judged,
    not_judged,
    run_all,
    too_few,
)
from brownout.session.experiment_process import Outcome


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


class Scripted:
    """Stands for `run_once`: each run ends as the next verdict says."""

    def __init__(self, verdicts: Iterable[str], where: Path) -> None:
        self._verdicts, self._where, self.count = iter(verdicts), where, 0

    def __call__(self, experiment: Path, draw: Draw) -> Repeat:
        self.count += 1
        verdict = next(self._verdicts)
        reasons = [] if verdict == "pass" else [f"{verdict} for a reason"]
        impact = made({"run_id": f"run-{self.count}", "verdict": verdict, "reasons": reasons})
        return Repeat(draw, Outcome(self._where / f"run-{self.count}", impact, None))


def carried_out(verdicts: Iterable[str], wanted: int, again: int) -> list[Repeat]:
    planned = draws({}, wanted + again, 7, 10.0, ())
    run = Scripted(verdicts, Path("runs"))
    done, stopped = run_all(Path("e.json"), planned, wanted, again, lambda words: None, run)
    assert stopped is None
    return done


def test_an_inconclusive_run_is_kept_named_and_made_again() -> None:
    done = carried_out(["pass", "inconclusive", "fail", "pass"], 3, 3)
    assert [each.outcome.verdict for each in done] == ["pass", "inconclusive", "fail", "pass"]
    assert [run.run_id for run in finished(done)] == ["run-1", "run-3", "run-4"]
    (words,) = not_judged(done)
    assert mentions(words, "not counted", Path("runs/run-2"), "inconclusive for a reason")


def test_inconclusive_runs_are_made_again_only_so_often() -> None:
    done = carried_out(["inconclusive"] * 9, 3, 2)
    assert len(done) == 5
    assert code_of(done, 3) == 2


def test_where_no_run_was_judged_all_of_them_are_counted() -> None:
    done = carried_out(["inconclusive"] * 2, 2, 0)
    assert len(finished(done)) == 2
    assert [words.partition(":")[0] for words in not_judged(done)] == ["not judged"] * 2


def test_what_to_do_for_more_judged_runs_depends_on_whether_a_limit_judges_them() -> None:
    done = carried_out(["pass", "inconclusive"], 2, 0)
    assert mentions(str(too_few(done, 2)), "1 of 2", "no limit judges these runs; set one")
    limit = {"name": "blackout", "scope": "total", "limit": 5.0, "met": None, "detail": "open"}
    outcome = replace(done[1].outcome, impact=made({"verdict": "inconclusive", "slos": [limit]}))
    limited = [done[0], replace(done[1], outcome=outcome)]
    assert mentions(str(too_few(limited, 2)), "1 of 2", "raise --again")
    assert too_few(limited, 1) is None


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["pass", "inconclusive", "pass"], 0),
        (["pass", "inconclusive", "fail"], 1),
        (["pass", "inconclusive", "inconclusive"], 2),
    ],
)
def test_the_exit_code_is_that_of_the_runs_that_were_judged(verdicts: list[str], code: int) -> None:
    assert code_of(carried_out(verdicts, 2, 1), 2) == code


def test_one_inconclusive_run_in_four_leaves_nearly_every_decision_possible() -> None:
    chance = random.Random(20_261_128)

    def decided(again: int) -> float:
        enough = 0
        for _ in range(400):
            verdicts = iter(lambda: "pass" if chance.random() < 0.75 else "inconclusive", None)
            enough += judged(carried_out(verdicts, 5, again)) == 5
        return enough / 400

    assert decided(0) == pytest.approx(0.75**5, abs=0.07)  # 24 %
    assert decided(5) == pytest.approx(0.98, abs=0.03)
