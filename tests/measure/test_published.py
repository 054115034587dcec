"""Published figures, out of series that have them: `tests/data/published`."""

from pathlib import Path

import numpy as np
import pytest

from brownout.measure import ScopeImpact, series_impact

PUBLISHED = Path(__file__).parents[1] / "data" / "published"


def measured(name: str, fault_at: float) -> ScopeImpact:
    t, ok = np.loadtxt(PUBLISHED / f"{name}.csv", delimiter=",", skiprows=1).T
    return series_impact(t, ok, fault_at=fault_at).faults[0].scopes["total"]


@pytest.mark.parametrize(("name", "percent"), [("drop-80.0", 80.0), ("drop-15.4", 15.4)])
def test_the_published_drop_is_measured(name: str, percent: float) -> None:
    assert 100 * (measured(name, 90.0).drops.tps_drop or 0.0) == pytest.approx(percent, abs=0.05)


def test_the_published_window_of_40_s_is_measured() -> None:
    course = measured("drop-80.0", 90.0).course
    assert course.recovery_time == pytest.approx(40.0, abs=0.11)
    assert course.degraded_time == pytest.approx(40.0, abs=0.11)


@pytest.mark.parametrize(("name", "percent"), [("decay-5.0", 5.0), ("decay-38.8", 38.8)])
def test_the_published_decay_is_measured(name: str, percent: float) -> None:
    assert 100 * (measured(name, 120.0).drops.decay or 0.0) == pytest.approx(percent, abs=0.05)
