"""What a run with a fault says of its rate, on runs whose outage is scripted."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run

from brownout.measure.document import read_impact
from brownout.measure.impact import Impact
from brownout.run.directory import RunDirectory
from brownout.runs.capacity.fault_judgement import Faulted, judge_fault, unfit, windows_of
from brownout.runs.capacity.judgement import TERMS, Promise
from brownout.runs.capacity.step_figures import Measured

PROMISES = (Promise("app", "read", 0.99, 20_000), Promise("orders", "total", 0.99, 20_000))
#: A node is gone from 25.3 s on, nobody is served for 2.9 s; it is started at 40 s.
SCRIPT = RunScript(start_at=40.0, rejoined_at=44.0, redundant_at=45.0)


def judged(root: Path, script: RunScript, allowance_s: float = 5.0) -> tuple[Faulted, Impact]:
    """Build the run and judge it."""
    path = build_run(root, script)
    impact = read_impact(RunDirectory.open(path))
    return judge_fault(Measured(path), impact, PROMISES, TERMS, allowance_s), impact


def test_a_dip_within_the_allowance_holds_with_the_rest_judged(tmp_path: Path) -> None:
    found, impact = judged(tmp_path, SCRIPT)
    assert unfit(impact) is None
    assert found.judgement.verdict == "holds", found.judgement
    # From 25.3 to 27.3 s what was to start was lost, until 28.3 s what had waited was late.
    assert found.out_s == {"app": 4, "orders": 4}
    assert found.judged_s == {"down": 11, "back": 5}  # 25 to 45 s: no second is left out


def test_a_dip_longer_than_the_allowance_is_a_breach(tmp_path: Path) -> None:
    found, _ = judged(tmp_path, SCRIPT, allowance_s=3.0)
    assert found.judgement.verdict == "breach"
    assert any("4 s in or after dips, wanted at most 3 s" in why for why in found.judgement.reasons)


@pytest.mark.parametrize(("at", "window"), [(33.0, "down"), (42.0, "back")])
def test_what_is_slow_outside_of_dips_is_a_breach_in_its_time(
    tmp_path: Path, at: float, window: str
) -> None:
    # 0.9 s frozen: all of it is served within the deadline, late by up to 0.9 s, and is no dip.
    found, impact = judged(tmp_path, replace(SCRIPT, again=((at, 0.9),)))
    assert len(impact.faults[0].scopes["app"].course.dips) == 1
    assert found.judgement.verdict == "breach"
    assert all(why.startswith(f"while {window}: ") for why in found.judgement.reasons)


def test_a_node_that_was_down_too_shortly_is_not_judged(tmp_path: Path) -> None:
    found, _ = judged(tmp_path, RunScript())  # it is started while the dip still counts
    assert found.judgement.verdict == "limited"
    assert "while down:" in found.judgement.reasons[0]


def test_the_times_of_a_fault_leave_nothing_out(tmp_path: Path) -> None:
    _, impact = judged(tmp_path, SCRIPT)
    fault = impact.faults[0]
    down, back = windows_of(fault)
    assert down.start == fault.start
    assert (down.end, back.start) == (40.0, 40.0)
    assert back.end == fault.end
    assert back.end >= 45.0
    alone = replace(fault, events=tuple(e for e in fault.events if e.type == "break"))
    (only,) = windows_of(alone)
    assert (only.start, only.end) == (fault.start, fault.end)


@pytest.mark.parametrize(
    ("script", "verdict", "words"),
    [
        (replace(SCRIPT, lost_keys=3), "breach", "acknowledged writes are lost"),
        (replace(SCRIPT, redundant_at=None), "breach", "redundancy did not come back"),
        (replace(SCRIPT, lag_p99_ms=80.0), "limited", "starved"),
        (replace(SCRIPT, fault_at=None, again=((30.0, 1.0),)), "limited", "fault_landed"),
        (replace(SCRIPT, ended=False), "limited", "generator_finished"),
    ],
)
def test_what_a_run_fails_or_cannot_be_judged_by(
    tmp_path: Path, script: RunScript, verdict: str, words: str
) -> None:
    path = build_run(tmp_path, script)
    told = unfit(read_impact(RunDirectory.open(path)))
    assert told is not None
    assert told.verdict == verdict
    assert words in " ".join(told.reasons)
