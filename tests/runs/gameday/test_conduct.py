"""What a conductor tells people of a step, whatever its experiment's process left."""

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
