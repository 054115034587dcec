"""The measures against series whose dips were scripted: `tests/data/series`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brownout.measure import ScopeImpact, series_impact

SERIES = Path(__file__).parents[1] / "data" / "series"
TRUTH: dict[str, dict[str, Any]] = json.loads((SERIES / "truth.json").read_text())
LENGTH_S = 180.0

each_series = pytest.mark.parametrize("name", TRUTH)


@cache
def measured(name: str, by_ratio: bool) -> ScopeImpact:
    """Measure a series, by success ratio or from `ok` alone."""
    t, offered, ok = np.loadtxt(SERIES / f"{name}.csv", delimiter=",", skiprows=1).T
    fault_at = TRUTH[name]["fault_at"]
    impact = series_impact(t, ok, offered if by_ratio else None, fault_at=fault_at)
    return impact.faults[0].scopes["total"]


def true_dips(name: str) -> list[tuple[float, float]]:
    return [(start, min(start + length, LENGTH_S)) for start, length, _ in TRUTH[name]["dips"]]


@each_series
def test_every_edge_is_within_a_bucket_by_success_ratio(name: str) -> None:
    found = [(dip.start, dip.end) for dip in measured(name, True).course.dips]
    assert len(found) == len(true_dips(name))
    for (start, end), (true_start, true_end) in zip(found, true_dips(name), strict=True):
        assert start == pytest.approx(true_start, abs=0.1001)
        assert end == pytest.approx(true_end, abs=0.1001)


@each_series
@pytest.mark.parametrize(("by_ratio", "within"), [(True, 0.1001), (False, 0.6)])
def test_recovery_is_found(name: str, by_ratio: bool, within: float) -> None:
    true, found = TRUTH[name]["recovery"], measured(name, by_ratio).course.recovery_time
    if true is None:
        assert found is None
    else:
        assert found == pytest.approx(true, abs=within)


@pytest.mark.parametrize("name", [name for name in TRUTH if "mean_drop" in TRUTH[name]])
@pytest.mark.parametrize("by_ratio", [True, False])
def test_mean_drop_is_within_three_points(name: str, by_ratio: bool) -> None:
    assert measured(name, by_ratio).drops.mean_drop == pytest.approx(
        TRUTH[name]["mean_drop"], abs=0.03
    )


@each_series
def test_lost_operations_are_counted_exactly_by_success_ratio(name: str) -> None:
    before = 0 if name != "nothing" else TRUTH[name]["lost"]
    assert measured(name, True).losses.lost_operations == TRUTH[name]["lost"] - before


@each_series
def test_tps_drop_lies_above_the_truth_by_no_more_than_noise_does(name: str) -> None:
    drops = measured(name, True).drops
    assert drops.tps_drop is not None
    assert drops.tps_drop_sham is not None
    true = TRUTH[name]["tps_drop"]
    assert true - 1e-9 <= drops.tps_drop <= min(1.0, true + 1.6 * max(drops.tps_drop_sham, 0.05))


@each_series
def test_the_interval_of_tps_drop_holds_what_was_measured(name: str) -> None:
    drops = measured(name, True).drops
    assert drops.tps_drop is not None
    assert drops.tps_drop_interval is not None
    low, high = drops.tps_drop_interval
    assert 0.0 <= low <= drops.tps_drop <= high <= 1.0


@each_series
def test_the_noise_shown_beside_the_drop_is_that_of_the_same_statistic(name: str) -> None:
    sham = measured(name, True).drops.tps_drop_sham
    assert sham is not None
    assert 0.04 < sham < (0.25 if name == "noisy-80" else 0.12)


def test_a_dip_that_never_ends_has_no_settled_time() -> None:
    course = measured("never-back", True).course
    assert course.settled_time is None
    assert course.time_to_impact == pytest.approx(1.0, abs=0.1001)
    assert course.degraded_time == pytest.approx(119.0, abs=0.2)


def test_no_dip_leaves_nothing_to_wait_for() -> None:
    course = measured("nothing", True).course
    assert (course.time_to_impact, course.degraded_time, course.settled_time) == (None, 0.0, 0.0)


def test_without_a_mend_a_second_dip_is_of_the_fault_however_much_later_it_begins() -> None:
    course = measured("two-dips", True).course
    assert course.recovery_time == pytest.approx(19.0, abs=0.1001)
    assert course.settled_time == pytest.approx(19.0, abs=0.1001)


def test_the_result_says_which_way_was_used() -> None:
    assert "success ratio" in measured("dip40", True).course.dip_method
    assert "throughput" in measured("dip40", False).course.dip_method
    assert measured("dip40", False).losses.availability is None
    assert measured("dip40", False).losses.worst_second is None
