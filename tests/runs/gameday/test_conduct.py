"""What a conductor tells people of a step, whatever its experiment's process left."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runs.gameday.conftest import Hook, Write

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
