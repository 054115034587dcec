"""Real runs whose generator was stopped in the middle: what it did not see is nobody's failure."""

import json
import tarfile
from pathlib import Path

import pytest
from tests.wording import mentions

from brownout.judge.analysis import analyze
from brownout.measure.impact import Impact
from brownout.show.report.table import render

RECORDED = Path(__file__).parents[1] / "data" / "starved"


def judged(root: Path, name: str, **limits: float) -> Impact:
    """Return the impact of a recorded run, judged by these limits."""
    with tarfile.open(RECORDED / f"{name}.tar.gz") as archive:
        archive.extractall(root, filter="data")
    record = json.loads((root / "run.json").read_text())
    record["limits"] = [
        {"measure": measure, "scope": "total", "limit": limit, "limit_from": "test", "why": ""}
        for measure, limit in limits.items()
    ]
    (root / "run.json").write_text(json.dumps(record))
    return analyze(root)


def test_a_starved_run_passes_where_even_the_worst_case_keeps_the_limit(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stalled-twice", recovery_time=10, blackout=6)
    assert (impact.verdict, impact.reasons) == ("pass", ())
    assert mentions(impact.remarks[0], "4.37%")
    slo = impact.slos[0]
    assert slo.ends == pytest.approx((3.714, 9.114), abs=0.001)


def test_a_starved_run_fails_where_even_the_best_case_breaks_the_limit(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stalled-twice", blackout=2, recovery_time=10)
    assert impact.verdict == "fail"
    assert list(impact.reasons) == [
        "blackout: 3.667 s at best, 5.75 s at worst; at most 2 s wanted (test)"
    ]
    assert "starved" in impact.remarks[0]


def test_a_starved_run_is_inconclusive_where_what_it_missed_decides(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stalled-twice", recovery_time=6, blackout=6)
    assert impact.verdict == "inconclusive"
    (reason,) = impact.reasons
    assert mentions(reason, "slos_evaluated: recovery_time", "3.714 s", "9.114 s")
    assert [slo.met for slo in impact.slos] == [None, True]


def test_a_generator_that_is_stopped_for_10_s_is_no_blackout_of_the_database(
    tmp_path: Path,
) -> None:
    impact = judged(tmp_path, "stopped-10-s", blackout=6, recovery_time=6, lost_seconds=4)
    assert impact.verdict == "inconclusive"
    assert impact.reasons[0].startswith("generator_not_starved: ")
    assert "missed 17.27% of the schedule" in impact.reasons[0]
    assert [slo.met for slo in impact.slos] == [None, None, None]
    ranges = impact.faults[0].scopes["total"].ranges
    assert ranges["blackout"] == pytest.approx((2.283, 12.3), abs=0.001)
    assert ranges["recovery_time"] == pytest.approx((2.138, 15.838), abs=0.001)


def test_what_was_under_way_when_the_generator_stopped_is_no_late_answer(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stopped-10-s", recovery_time=3)
    errors = impact.faults[0].figure("errors")
    assert errors["late"] == 1  # its answer lay there for ten seconds
    assert impact.slos[0].met is None


def test_the_table_of_a_starved_run_shows_between_what_each_figure_lies(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stalled-twice", recovery_time=6)
    text = render(impact, "there")
    assert "3.7 s to 9.1 s" in text
    (remark,) = [line for line in text.splitlines() if "the load generator was starved" in line]
    assert text.index(remark) < text.index("slos_evaluated")


def test_every_scope_of_a_starved_run_has_ranges(tmp_path: Path) -> None:
    impact = judged(tmp_path, "stalled-twice", recovery_time=10)
    scopes = impact.faults[0].scopes
    assert set(scopes) == {"total", "read", "write", "lookups", "orders"}
    assert all(scope.ranges for scope in scopes.values())
