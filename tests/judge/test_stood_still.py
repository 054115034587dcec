"""A generator that stood still fails no database, in whatever loop; a database that did fails.

The same runs are made with and without the stall, and with an outage that the stall does not hide.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.measure.document import document_of

AT = 30.0
#: Each is kept by a load of which nothing is lost, and broken by one that stands still for 1.2 s.
LIMITS = {
    "tps_drop": 0.5,
    "lost_seconds": 0.5,
    "longest_blackout": 0.5,
    "settled_time": 1.0,
    "recovery_time": 1.0,
    "degraded_time": 0.5,
    "longest_stall": 0.5,
    "latency.during.max_us": 100_000.0,
    "time_above.max_90ms": 0.0,
}
#: For so long the database stands still where it does.
TRULY_S = 2.5
STALL = ((AT + 3.0, 1.2),)
SHORT = tuple((AT + 3 + i, 0.095) for i in range(3))


def judged(root: Path, **changes: Any) -> dict[str, Any]:
    limits = tuple(
        {"measure": name, "scope": "total", "limit": limit, "limit_from": "test", "why": ""}
        for name, limit in LIMITS.items()
    )
    script = {"fault_at": AT, "start_at": AT + 8, "outage_s": 0.0, "limits": limits,
              "rejoined_at": AT + 9, "redundant_at": AT + 9.2, **changes}  # fmt: skip
    return document_of(analyze(build_run(root, RunScript(**script))))


def unmet(impact: dict[str, Any]) -> dict[str, bool | None]:
    """Return each limit that is not met: False if it is broken, None if it is open."""
    return {each["name"]: each["met"] for each in impact["slos"] if each["met"] is not True}


@pytest.mark.parametrize("concurrency", [0, 4])
def test_without_a_stall_every_limit_is_met(tmp_path: Path, concurrency: int) -> None:
    impact = judged(tmp_path, concurrency=concurrency)
    assert unmet(impact) == {}
    assert (impact["verdict"], impact["remarks"]) == ("pass", [])


@pytest.mark.parametrize("concurrency", [0, 4])
@pytest.mark.parametrize("stalls", [STALL, SHORT], ids=["1.2 s", "three times 95 ms"])
def test_a_stall_of_the_generator_leaves_limits_open_and_breaks_none(
    tmp_path: Path, concurrency: int, stalls: tuple[tuple[float, float], ...]
) -> None:
    impact = judged(tmp_path, concurrency=concurrency, stalls=stalls)
    assert impact["verdict"] == "inconclusive", impact["reasons"]
    assert set(unmet(impact).values()) == {None}
    assert "time_above.max_90ms" in unmet(impact)
    assert any("the load generator itself was late" in remark for remark in impact["remarks"])
    named = next(each for each in impact["remarks"] if "itself was late" in each)
    assert f" {int(stalls[0][0])} s" in named


def test_all_that_a_stall_of_a_closed_loop_touches_is_between_two_numbers(tmp_path: Path) -> None:
    impact = judged(tmp_path, concurrency=4, stalls=STALL)
    assert set(unmet(impact)) == {
        "tps_drop", "lost_seconds", "longest_blackout", "settled_time", "recovery_time",
        "degraded_time", "latency.during.max_us", "time_above.max_90ms",
    }  # fmt: skip
    assert any("was starved: it missed 2.0" in remark for remark in impact["remarks"])


@pytest.mark.parametrize("concurrency", [0, 4])
def test_an_outage_beside_the_stall_still_fails(tmp_path: Path, concurrency: int) -> None:
    outage = ((AT + 0.5, TRULY_S),)
    impact = judged(tmp_path, concurrency=concurrency, again=outage, stalls=((AT + 6.0, 1.2),))
    assert impact["verdict"] == "fail"
    assert {name for name, met in unmet(impact).items() if met is False} >= {
        "tps_drop", "longest_blackout", "settled_time", "lost_seconds",
    }  # fmt: skip


@pytest.mark.parametrize("concurrency", [0, 4])
def test_slow_answers_beside_a_late_second_still_break_a_limit(
    tmp_path: Path, concurrency: int
) -> None:
    slow = ((AT + 0.5, 0.3),)
    impact = judged(tmp_path, concurrency=concurrency, again=slow, stalls=((AT + 6.0, 0.095),))
    assert unmet(impact)["latency.during.max_us"] is False
    assert unmet(impact)["time_above.max_90ms"] is False


def test_a_closed_loop_recorded_before_there_was_a_heartbeat_is_judged_as_ever(
    tmp_path: Path,
) -> None:
    impact = judged(tmp_path, concurrency=4, stalls=STALL, beats=False)
    assert (impact["verdict"], impact["remarks"]) == ("fail", [])
    assert unmet(impact)["tps_drop"] is False


def test_a_run_without_the_generator_s_seconds_is_judged_by_what_was_missed(tmp_path: Path) -> None:
    limit = {"measure": "latency.during.max_us", "scope": "total", "limit": 50_000.0,
             "limit_from": "test", "why": ""}  # fmt: skip
    path = build_run(tmp_path, RunScript(stalls=SHORT, limits=(limit,), outage_s=0, fault_at=AT,
                                         start_at=AT + 8, rejoined_at=AT + 9,
                                         redundant_at=AT + 9.2))  # fmt: skip
    assert json.loads((path / "impact.json").read_text())["verdict"] == "inconclusive"
    (path / "generator.csv").unlink()
    assert document_of(analyze(path))["slos"][0]["met"] is False
