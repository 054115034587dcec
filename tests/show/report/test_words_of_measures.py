"""Every measure has a name and a unit, and an absence says which kind it is."""

from dataclasses import replace
from typing import Any

import pytest

from brownout.measure.impact import Judged, Load
from brownout.measure.measures import label
from brownout.show.report.values import bound, result, worded
from brownout.show.report.words import NOT_SEEN, pace


@pytest.mark.parametrize(
    ("measure", "value", "words"),
    [
        ("tps_drop", 0.1536, "15.4 %"),
        ("availability", 0.999512, "99.95 %"),
        ("tps_drop_interval", [0.14, 0.17], "14 % to 17 %"),
        ("blackout", 2.9, "2.9 s"),
        ("redundancy_time", [8.748, 8.848], "8.85 s (not at 8.75 s)"),
        ("promoted_time", (1.9, 2.04), "2.04 s (not at 1.90 s)"),
        ("promoted_time", (9.0, None), NOT_SEEN),
        ("promoted_time", (0.0, 0.0), "the primary stayed"),
        ("latency.during.p99_us", 812_345, "812.3 ms"),
        ("time_above.p99_10ms", 3.0, "3 s"),
        ("errors", {"no-node": 1200, "late": 34}, "1,234"),
        ("dips", [[1, 2], [3, 4]], "2"),
        ("lost_operations", 1523, "1,523"),
        ("recovery_time", None, NOT_SEEN),
        ("rejoin_time_after_start", None, NOT_SEEN),
        ("degraded_time", None, "–"),
        ("tps_drop", None, "–"),
    ],
)
def test_a_value_is_worded_by_its_measure(measure: str, value: Any, words: str) -> None:
    assert worded(measure, value) == words


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("tps_drop", "throughput drop"),
        ("lost_seconds", "seconds of load lost"),
        ("lost_writes", "acknowledged writes lost"),
        ("redundancy_time_after_start", "redundancy restored, since the node's return"),
        ("latency_all.during.p99_us", "response time p99 during, all operations"),
        ("time_above.p99_10ms", "time with p99 over 10 ms"),
    ],
)
def test_a_name_stands_by_itself(measure: str, words: str) -> None:
    assert label(measure) == words


def slo(name: str, value: float | None, met: bool | None) -> Judged:
    return Judged(name, "total", value, limit=10.0, met=met)


def test_what_was_found_where_there_is_no_value() -> None:
    assert result(slo("recovery_time", None, False)) == NOT_SEEN
    assert result(slo("recovery_time", None, None)) == "–"
    assert result(slo("latency_all.during.p99_us", None, False)) == "> deadline"
    assert result(slo("blackout", 2.0, True)) == "2 s"


def test_a_limit_has_its_side() -> None:
    assert bound(slo("recovery_time", 3.0, True)) == "≤ 10 s"
    most = replace(slo("availability", 0.5, False), direction="at_least", limit=0.999)
    assert bound(most) == "≥ 99.9 %"


def test_the_pace_of_a_closed_loop_has_no_rate() -> None:
    assert pace(Load("open", 800.0)) == "800/s open loop"
    assert pace(Load("closed", 0.0)) == "closed loop"
    assert pace(Load()) == ""
