"""What a conductor tells people of a step, whatever its experiment's process left."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runs.gameday.conftest import Hook, Write

from brownout.faults import open_runs
from brownout.runs.gameday import conduct, gameday_file
from brownout.runs.gameday.conduct import Conductor
from brownout.runs.gameday.days import Day, new_place
from brownout.runs.gameday.plan import ReadyStep
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.stop import Stop
from brownout.session.experiment_process import Outcome


def test_a_pass_with_an_undo_that_failed_is_told_at_once_as_a_failure(
    home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}, "about": ["fail"]}]
    gameday = gameday_file.read(str(write(notify=people)))
    step = StepRecord("stepdown", "stepdown", {})
    record = Record("day", "", "lab-mongodb", "lab-mongodb", "day.yaml", 0, [step], "")
    day = Day(new_place("day"), record)
    ready = ReadyStep(gameday.experiments[0], home / "stepdown.json", {}, {})
    outcome = Passed(home / "run", None, "n1 is paused")
    monkeypatch.setattr(conduct, "make_one", lambda *_: outcome)
    stop = Stop([], day.path)
    conductor = Conductor(gameday, day, [ready], stop, lambda words: None)
    conductor._make(step)
    conductor.close()
    (message,) = hook.heard
    assert message["type"] == "failure"
    assert message["message"].startswith("not put back: n1 is paused")
    assert "still broken" in stop.reason
    assert record.unmended == "n1 is paused"


class Passed(Outcome):
    """What a process left whose run passed."""

    @property
    def verdict(self) -> str:
        return "pass"


def test_a_day_whose_records_cannot_be_written_ends_and_is_not_told_as_a_pass(
    home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run is asked to stop, its step has its verdict, and no other step begins."""
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}, "about": ["end"]}]
    gameday = gameday_file.read(str(write(notify=people)))
    step, later = StepRecord("stepdown", "stepdown", {}), StepRecord("later", "stepdown", {})
    record = Record("day", "", "lab-mongodb", "lab-mongodb", "day.yaml", 0, [step, later], "")
    day = Day(new_place("day"), record)
    asked: list[str] = []

    def make_one(_: object, __: object, look: Callable[[str], str]) -> Outcome:
        shutil.rmtree(day.path)
        day.path.write_text("the disk went away")
        asked.append(look(str(home / "run")))
        return Passed(home / "run", None, None)

    monkeypatch.setattr(conduct, "make_one", make_one)
    ready = ReadyStep(gameday.experiments[0], home / "stepdown.json", {}, {})
    conductor = Conductor(gameday, day, [ready], Stop([], day.path), lambda words: None)
    conductor._make(step)
    conductor._make(later)
    conductor._conclude()
    conductor.close()
    assert "the records of the game day are lost" in asked[0]
    assert [each.status for each in record.steps] == ["over", "waiting"]
    assert conductor.lost is not None
    (message,) = hook.heard
    assert message["type"] == "warning"
    assert message["message"].startswith("the records of the game day are lost")


#: Claims the cluster `shop`, as if in a pod whose process has the id of another pod's run as well.
CLAIMING = """
import json, os, time
from pathlib import Path
from brownout.faults import open_runs

def claim(place):
    theirs = Path(place, "state", "open", "orders.json")
    theirs.write_text(json.dumps(json.loads(theirs.read_text()) | {"pid": os.getpid()}))
    run = Path(place, "ours")
    run.mkdir()
    open_runs.claim("shop", run, "shop", False)
    deadline = time.monotonic() + 60
    while not any(run.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    open_runs.release("shop")
"""


def test_a_day_that_ends_stops_its_own_run_and_not_that_of_another_pod(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pods that share a state volume may have processes of the same id."""
    gameday = gameday_file.read(str(write()))
    monkeypatch.setenv("PYTHONPATH", str(home), prepend=":")
    (home / "claiming.py").write_text(CLAIMING)
    provider = {"type": "python", "module": "claiming", "func": "claim",
                "arguments": {"place": str(home)}}  # fmt: skip
    action = {"type": "action", "name": "claim", "provider": provider}
    path = home / "experiment.json"
    path.write_text(json.dumps({"title": "t", "description": "d", "method": [action]}))
    (home / "theirs").mkdir()
    open_runs.claim("orders", home / "theirs", "orders", brought_up=False)
    looked: list[str] = []

    def look(run: str) -> str:
        looked.append(run)
        return "the kill switch" if run else ""

    conduct.make_one(ReadyStep(gameday.experiments[0], path, {}, {}), gameday, look)
    assert set(looked) == {"", str(home / "ours")}
    assert list((home / "theirs").iterdir()) == []
    assert list((home / "ours").iterdir()) != []
