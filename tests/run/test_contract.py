"""Broken clauses of the contract are written to the events, and read back as they were."""

from pathlib import Path

import pytest

from brownout.run import contract
from brownout.run.contract import Breach, breaches, early_end, is_late, lasted
from brownout.run.events import EventLog, read_events


def test_broken_clauses_are_read_as_they_were_written(tmp_path: Path) -> None:
    told = [
        Breach(contract.ROLE, "n1 was a secondary", "n1"),
        Breach(contract.DURATION, "it ended early", "n1", 21.5, 22.5, of=3),
        Breach(contract.DURATION, "it may end early", "n2", None, 22.5, allowed=True),
        Breach(contract.LATENESS, "brownout was stopped"),
    ]
    log = EventLog(tmp_path / "events.ndjson")
    for breach in told:
        contract.write(log, breach)
    log.point("note", "step")
    assert breaches(read_events(tmp_path / "events.ndjson")) == told


@pytest.mark.parametrize(
    "damaged", [{}, {"ended_early": True}, {"ended_early": True, "lasted_s": ["a", 1]}]
)
def test_how_long_a_fault_lasted_that_ended_early_is_read_from_its_evidence(
    damaged: dict[str, object],
) -> None:
    assert early_end(lasted(0.1234, 1)) == (0.123, 1.0)
    assert early_end(damaged) is None


@pytest.mark.parametrize(
    ("late_s", "due_s", "late"), [(0.9, 1, False), (1.1, 1, True), (5, 60, False), (7, 60, True)]
)
def test_late_is_more_than_a_second_and_more_than_a_tenth(
    late_s: float, due_s: float, late: bool
) -> None:
    assert is_late(late_s, due_s) is late
