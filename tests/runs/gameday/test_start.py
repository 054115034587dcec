"""What a day does to the one before it, and how it ends where its own records go away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.runs.gameday.conftest import Write

from brownout.runs.gameday import start
from brownout.runs.gameday.days import Day, new_place
from brownout.runs.gameday.leases import Lease
from brownout.runs.gameday.record import Record


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
