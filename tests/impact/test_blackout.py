"""A blackout is time with no ok while something is wanted, where ok is to be expected."""

import numpy as np
import pytest
from tests.impact.signals import flat_level, make_signal

from brownout.impact.blackout import blackout_of, blackouts_by_lane
from brownout.impact.settings import MeasureSettings

SETTINGS = MeasureSettings.default()


@pytest.mark.parametrize(
    ("ok", "total", "longest"),
    [
        ([80] * 40, 0.0, 0.0),
        ([80] * 10 + [0] * 20 + [80] * 10, 2.0, 2.0),
        ([80] * 10 + [0] * 5 + [80] * 5 + [0] * 10 + [80] * 10, 1.5, 1.0),
        ([80] * 10 + [40] + [0] * 10 + [20] + [80] * 18, 1.125, 1.125),  # edges inside buckets
        ([80] * 10 + [0] * 5 + [40] + [0] * 5 + [80] * 19, 1.05, 0.55),  # shared edge counts once
        ([80] * 20 + [0] * 20, 2.0, 2.0),
    ],
)
def test_a_blackout_is_the_time_without_any_ok(ok: list[int], total: float, longest: float) -> None:
    signal = make_signal(ok, [80] * 40)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert (found.total, found.longest) == pytest.approx((total, longest))


def test_a_time_in_which_nothing_is_wanted_is_no_blackout() -> None:
    signal = make_signal([80] * 10 + [0] * 30, [80] * 10 + [0] * 30)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


def test_what_is_pending_is_wanted() -> None:
    pending = [0] * 10 + [8] * 30
    signal = make_signal([80] * 10 + [0] * 30, [80] * 10 + [0] * 30, pending=pending)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 3.0


def test_empty_buckets_of_a_slow_load_are_no_blackout() -> None:
    ok = [1, 0, 0, 0, 0] * 8  # 2 a second: 20 would be expected in 10 s
    signal = make_signal(ok, [1] * 40)
    found = blackout_of(signal, flat_level(2.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


def test_without_a_level_a_blackout_is_not_known() -> None:
    assert blackout_of(make_signal([0] * 40), flat_level(0.0), 0.0, 4.0, SETTINGS) is None


def test_one_lane_may_be_dark_while_the_others_are_not() -> None:
    dark = np.arange(200) // 30 == 4  # from 12.0 to 15.0 s
    full, none = np.full(200, 40), np.zeros(200, np.int64)
    lanes = {
        "n1": {"offered": full, "ok": np.where(dark, 0, 40), "pending": np.where(dark, 40, 0)},
        "n2": {"offered": full, "ok": full, "pending": none},
        "new": {"offered": np.where(dark, 40, 0), "ok": none, "pending": none},
    }
    found = blackouts_by_lane(lanes, (0.0, 10.0), (12.0, 20.0), SETTINGS)
    assert found == {"n1": pytest.approx(3.0), "n2": 0.0}
