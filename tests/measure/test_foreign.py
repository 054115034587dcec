"""The measures on a series of somebody else, whatever its resolution and origin."""

from typing import Any

import numpy as np
import pytest

from brownout.base.errors import ConfigurationError
from brownout.measure import MeasureSettings, ScopeImpact, series_impact
from brownout.measure.document import findings_document
from brownout.measure.ranges import rounded


def total(t: Any, ok: Any, offered: Any = None, **more: Any) -> ScopeImpact:
    return series_impact(t, ok, offered, fault_at=60.0, **more).faults[0].scopes["total"]


def step(width_s: float, fault_at: float = 60.0, length_s: float = 5.0) -> tuple[Any, Any, Any]:
    """Return 120 s at 1,000/s with 40 % lost for a while."""
    t = np.arange(round(120 / width_s)) * width_s
    offered = np.full(len(t), 1000 * width_s)
    bad = (t >= fault_at - 1e-9) & (t < fault_at + length_s - 1e-9)
    return t, np.where(bad, 0.6 * offered, offered), offered


@pytest.mark.parametrize("width_s", [0.05, 0.1, 0.5, 1.0])
def test_rows_of_any_width_give_the_same_dip(width_s: float) -> None:
    found = total(*step(width_s))
    (dip,) = found.course.dips
    assert (dip.start, dip.end) == pytest.approx((60.0, 65.0))
    assert found.drops.tps_drop == pytest.approx(0.4)
    assert found.drops.mean_drop == pytest.approx(0.4)
    assert found.losses.lost_operations == pytest.approx(2000)
    assert found.course.recovery_time == pytest.approx(5.0)


def test_times_count_from_the_first_row() -> None:
    t, ok, offered = step(0.1)
    found = series_impact(t + 1.7e9, ok, offered, fault_at=1.7e9 + 60.0).faults[0]
    assert found.effective == pytest.approx(60.0)
    assert found.scopes["total"].course.dips[0].start == pytest.approx(60.0)


def test_a_short_baseline_is_taken_as_it_is() -> None:
    t, ok, offered = step(0.1, fault_at=10.0)
    impact = series_impact(t, ok, offered, fault_at=10.0)
    assert impact.baseline.ok
    assert (impact.baseline.level.start, impact.baseline.level.end) == (0.0, 9.0)
    assert impact.faults[0].scopes["total"].drops.tps_drop_interval is None


@pytest.mark.parametrize("per_s", [2, 100])
@pytest.mark.parametrize("with_offered", [True, False])
def test_five_rows_of_zero_are_a_blackout_of_five_seconds_with_offered_and_without(
    per_s: int, with_offered: bool
) -> None:
    t = np.arange(120.0)
    offered = np.full(120, per_s)
    ok = np.where((t >= 61) & (t < 66), 0, offered)
    found = total(t, ok, offered if with_offered else None)
    assert found.course.blackout == pytest.approx(5.0)
    assert found.course.longest_blackout == pytest.approx(5.0)


@pytest.mark.parametrize("with_offered", [True, False])
def test_an_impact_that_comes_later_than_a_hold_is_not_recovered_from_before(
    with_offered: bool,
) -> None:
    """Nothing is served from 15 to 35 s after the fault: a hold fits before it."""
    t = np.arange(150.0)
    offered = np.full(150, 100)
    ok = np.where((t >= 75) & (t < 95), 0, offered)
    found = total(t, ok, offered if with_offered else None)
    assert found.course.time_to_impact == pytest.approx(15.0)
    assert found.course.recovery_time == pytest.approx(35.0, abs=0.6)
    assert found.course.blackout == pytest.approx(20.0)


@pytest.mark.parametrize("with_offered", [True, False])
@pytest.mark.parametrize("width_s", [0.05, 0.1, 0.13, 0.2])
def test_a_long_row_among_short_ones_lasts_as_long_as_it_does(
    width_s: float, with_offered: bool
) -> None:
    """From 60 to 67 s there is one row."""
    begin = np.arange(60.0, 0.0, -width_s)[::-1]
    t = np.concatenate((begin, 67.0 + np.arange(round(50 / width_s)) * width_s))
    until = np.append(t[1:], t[-1] + width_s)
    offered = 100 * (until - t)
    ok = np.where(t == 60.0, 0.0, offered)
    found = total(t, ok, offered if with_offered else None, until=until)
    assert found.course.blackout == pytest.approx(7.0)
    assert found.course.degraded_time == pytest.approx(7.0, abs=0.15)
    assert found.losses.lost_operations == pytest.approx(700, rel=0.02)
    reported = list(t != 60.0)
    unknown = total(t, ok, offered if with_offered else None, until=until, reported=reported)
    assert unknown.ranges["lost_operations"] == pytest.approx((0, 700), abs=10)
    assert unknown.ranges["degraded_time"] == pytest.approx((0, 7), abs=0.15)


def test_a_resolution_that_is_asked_for_is_answered() -> None:
    settings = MeasureSettings.from_mapping({"resolution_s": 15.0})
    assert total(*step(0.1), settings=settings).drops.tps_drop_at_resolution == pytest.approx(
        2 / 15
    )


def test_the_document_is_plain_data() -> None:
    t, ok, offered = step(1.0)
    document = findings_document(rounded(series_impact(t, ok, offered, fault_at=60.0)))
    assert document["faults"][0]["tps_drop"] == 0.4
    assert document["faults"][0]["scopes"]["write"]["tps_drop"] == 0.4


@pytest.mark.parametrize(
    ("t", "ok", "offered", "fault_at", "wanted"),
    [
        ([0, 1, 2, 3], [1, 1, 1], None, 2, "ok: 3 rows"),
        ([0, 1, 2, 3], [1, 1, 1, float("nan")], None, 2, "ok: holds"),
        ([0, 1, 2, 3], [1, 1, 1, -1], None, 2, "ok: holds"),
        ([0, 1, 2, 4], [1, 1, 1, 1], None, 2, "row 4 begins 2 s after"),
        ([3, 2, 1, 0], [1, 1, 1, 1], None, 2, "is not later"),
        ([0, 1, 2, 3], [1, 1, 1, 1], None, 9, "fault_at: found 9"),
        ([0, 1, 2, 3], [1, 1, 1, 1], None, 1, "fault_at: found 1"),
        ([1.7e9 + n for n in range(4)], [1, 1, 1, 1], None, 1.7e9 + 1, r"1700000001.* 1700000000"),
        ([0, 1, 2, 3], [2, 1, 1, 1], [1, 1, 1, 1], 2, "more than offered"),
        ([0], [1], None, 2, "at least 2"),
    ],
)
def test_input_that_makes_no_sense_is_refused(
    t: list[float], ok: list[float], offered: Any, fault_at: float, wanted: str
) -> None:
    with pytest.raises(ConfigurationError, match=wanted):
        series_impact(t, ok, offered, fault_at=fault_at)


def test_every_problem_of_the_input_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as error:
        series_impact([0, 1, 2], [1, -1], [float("inf")], fault_at=1)
    assert len(error.value.problems) == 4
