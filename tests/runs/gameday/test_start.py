"""What a day does to the one before it, and how it ends where its own records go away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.runs.gameday.conftest import Write

from brownout.base.errors import BrownoutError, ExitCode, RunDirectoryError
from brownout.runs.gameday import start
from brownout.runs.gameday.days import Day, new_place
from brownout.runs.gameday.leases import Lease
from brownout.runs.gameday.record import Record, StepRecord

NOW = "2026-11-28T08:00:00.000Z"


def test_a_day_that_follows_a_dead_one_notes_when_it_noticed(home: Path, write: Write) -> None:
    began = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    first = Day(new_place("day"), Record("day", "", "mine", "mine", "x.yaml", 1, [], began))
    first.save()
    second = Day(new_place("day"), Record("day", "", "mine", "mine", "x.yaml", 1, [], began))
    start._succeed(second, Lease("mine", "", str(first.path), "", "", 1, 1, 0, ""))
    record = Day.open(first.path).record
    assert record.verdict == "died"
    noticed = datetime.fromisoformat(record.ended)
    assert datetime.now(UTC) - noticed < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("began", "unmended", "code"),
    [("", "", ExitCode.BAD_INPUT), (NOW, "", ExitCode.ABORTED),
     (NOW, "n1 is paused", ExitCode.UNDO_FAILED)],
)  # fmt: skip
def test_a_day_without_its_records_ends_by_what_it_may_have_broken(
    began: str, unmended: str, code: ExitCode
) -> None:
    step = StepRecord("a", "a", {}, began=began)
    record = Record("day", "", "mine", "mine", "x.yaml", 1, [step], NOW, unmended=unmended)
    error = start._end_of(record, RunDirectoryError("x: cannot be written"))
    assert isinstance(error, BrownoutError)
    assert error.exit_code == code
