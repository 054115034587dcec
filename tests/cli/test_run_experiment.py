"""`brownout run`: an experiment by its name, with little output and its verdict's exit code."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests import forked_run
from tests.chaos_runner import LOAD
from tests.cli.conftest import Brownout

from brownout.inventory.model import Cluster

# Chaos Toolkit's own, which only tests see.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: A control that judges as the test wants it.
JUDGE = """
def after_experiment_control(context, state=None, **_):
    state.update(context["configuration"]["judged"])
"""


def test_a_run_by_name_says_each_phase_once_and_exits_by_its_verdict(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    settings = ["baseline_s=3", "downtime_s=1", *LOAD.split(",")]
    given = [word for each in settings for word in ("--set", each)]
    env = {"BROWNOUT_RUNS": str(tmp_path / "runs")}
    command = ("run", "node-kill", "--cluster", "lab-etcd", *given)
    done = forked_run.brownout(*command, cwd=tmp_path, env=env)
    assert done.returncode == 2, done.stderr
    assert "a baseline of 3 s is too short" in done.stdout
    lines = done.stderr.splitlines()
    assert all(line.startswith("brownout: ") for line in lines), done.stderr
    assert "\x1b" not in done.stderr
    phases = [line.removeprefix("brownout: ").partition(" · ")[0] for line in lines]
    assert all(before != after for before, after in pairwise(phases))
    for phase in ("starting", "waiting for a stable baseline", "method: start-the-node"):
        assert phases.count(phase) == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["runs"], "no journal, no log"
    (run,) = (tmp_path / "runs").iterdir()
    made = json.loads((run / "run.json").read_text())
    assert "20" in json.dumps(made)  # the workload as it was set


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment without steps; its `configuration.judged` is what its control says of it."""
    (tmp_path / "judge_of_this_test.py").write_text(JUDGE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "judged.json"


def _write(path: Path, judged: dict[str, Any]) -> None:
    control = {"name": "judge", "provider": {"type": "python", "module": "judge_of_this_test"}}
    path.write_text(json.dumps({
        "title": "t", "description": "d", "method": [], "rollbacks": [], "controls": [control],
        "configuration": {"judged": judged},
    }))  # fmt: skip


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"status": "completed", "brownout": {"verdict": "pass"}}, 0),
        ({"status": "failed", "deviated": True, "brownout": {"verdict": "pass"}}, 1),
        ({"status": "failed", "brownout": {"verdict": "pass", "not_stored": "why"}}, 2),
        ({"status": "failed", "deviated": True, "brownout": {"verdict": "fail"}}, 1),
        ({"status": "failed", "brownout": {"verdict": "inconclusive"}}, 2),
        ({"status": "interrupted", "brownout": {"verdict": "aborted"}}, 3),
        ({"status": "failed", "brownout": {"verdict": "pass", "undo_failed": ["n1 is down"]}}, 4),
        ({"status": "interrupted", "brownout": {"verdict": "not run", "exit_code": 64}}, 64),
        ({"status": "failed"}, 2),
    ],
)
def test_the_exit_code_is_that_of_what_became_of_the_run(
    said: dict[str, Any], code: int, judged: Path, brownout: Brownout
) -> None:
    _write(judged, said)
    assert brownout("run", judged).code == code


def test_the_journal_is_kept_where_one_wants_it(
    judged: Path, brownout: Brownout, tmp_path: Path
) -> None:
    _write(judged, {"status": "completed", "brownout": {"verdict": "pass"}})
    assert brownout("run", judged, "--journal", tmp_path / "kept.json").code == 0
    assert json.loads((tmp_path / "kept.json").read_text())["brownout"] == {"verdict": "pass"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["node-kil"], "experiments: found 'node-kil'"),
        (["node-kill", "--set", "nonsense", "--set", "=3"], "2 problems:\n"
         "--set: found 'nonsense', wanted NAME=VALUE\n--set: found '=3', wanted NAME=VALUE\n"),
        (["node-kill", "--cluster", "nowhere"], "unknown cluster `nowhere`"),
        (["node-kill", "--set", "downtime_s=x"], "configuration.downtime_s: found 'x'"),
        (["node-kill", "--set", "streams.orders.rat=3"], ".rat: unknown setting"),
        (["none.json"], "none.json: no such experiment"),
        (["bad.json"], "bad.json: not an experiment: Expecting"),
        (["other.txt"], "other.txt: not an experiment: only files with json"),
        (["empty.json"], "an empty experiment is not an experiment"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused_with_one_error(
    words: list[str], said: str, brownout: Brownout, home: Path
) -> None:
    Path("bad.json").write_text('{"title": ')
    Path("empty.json").write_text("{}")
    Path("other.txt").write_text("")
    done = brownout("run", *words)
    assert done.code == 64
    errors = [line for line in done.err.splitlines() if "wanted" in line or "is no" in line]
    assert said in done.err
    assert len(errors) == len(set(errors)), done.err
    assert "Traceback" not in done.err
    assert list(home.glob("**/events.ndjson")) == []


def test_a_cluster_that_does_not_answer_is_no_bad_input(brownout: Brownout, home: Path) -> None:
    nodes = [{"name": f"n{i}", "address": f"127.0.0.1:{i}",
              "host": {"pid_file": str(home / f"{i}.pid"), "command": ["mongod"]}}
             for i in (1, 2, 3)]  # fmt: skip
    (home / "mine.yaml").write_text(json.dumps({
        "database": "mongodb", "environment": "test", "nodes": nodes,
        "connection": {"replica_set": "rs"},
    }))  # fmt: skip
    done = brownout("run", "node-kill", "--cluster", home / "mine.yaml")
    assert done.code == 2, done.err
    assert "127.0.0.1:1" in done.err
    assert done.err.count("refused") <= 3  # each member once
