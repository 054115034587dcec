"""A blackout is time in which nothing succeeds although something is wanted, at whatever rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_signal

from brownout.measure.blackout import blackout_of, blackouts_by_lane
from brownout.measure.settings import MeasureSettings

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


@pytest.mark.parametrize("rate", [2, 5, 8])
@pytest.mark.parametrize("closed", [False, True])
def test_a_slow_stream_that_is_refused_for_20_s_has_a_blackout_of_20_s(
    rate: int, closed: bool
) -> None:
    starts = np.arange(60 * rate) / rate
    bucket = np.floor(starts * 10 + 1e-6).astype(int)
    served = (starts < 20) | (starts >= 40)
    offered = np.bincount(bucket, minlength=600)
    ok = np.bincount(bucket[served], minlength=600)
    signal = make_signal(ok.tolist(), offered.tolist(), closed=closed)
    found = blackout_of(signal, flat_level(float(rate)), 15.0, 60.0, SETTINGS)
    assert found is not None
    assert found.resolution == pytest.approx(1 / rate)
    assert found.longest == pytest.approx(20.0, abs=1 / rate)


def test_buckets_in_which_nothing_is_offered_neither_end_nor_begin_a_blackout() -> None:
    offered = [1, 0, 0, 0, 0] * 16  # 2 a second; those from 2 s to 5 s fail
    ok = [n if not 20 <= i < 50 else 0 for i, n in enumerate(offered)]
    found = blackout_of(make_signal(ok, offered), flat_level(2.0), 0.0, 8.0, SETTINGS)
    assert found is not None
    assert found.total == pytest.approx(3.0)


def test_a_time_in_which_nothing_is_wanted_is_no_blackout() -> None:
    signal = make_signal([80] * 10 + [0] * 30, [80] * 10 + [0] * 30)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


def test_while_everybody_waits_nobody_is_served_though_all_succeed_in_the_end() -> None:
    pending = [0] * 10 + [8] * 30
    signal = make_signal([80] * 10 + [0] * 30, [80] * 10 + [0] * 30, pending=pending)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 3.0


def test_a_slow_stream_that_is_served_has_no_blackout() -> None:
    offered = [1, 0, 0, 0, 0] * 8
    found = blackout_of(make_signal(offered, offered), flat_level(2.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=60))
def test_a_blackout_is_no_longer_than_the_time_and_no_shorter_than_its_dark_buckets(
    buckets: list[tuple[int, bool]],
) -> None:
    offered = [n for n, _ in buckets]
    ok = [n if served else 0 for n, served in buckets]
    length = len(buckets) / 10
    found = blackout_of(make_signal(ok, offered), flat_level(10.0), 0.0, length, SETTINGS)
    assert found is not None
    dark = sum(1 for n, served in buckets if n and not served) / 10
    assert dark - 1e-9 <= found.total <= length + 1e-9
    assert found.longest <= found.total + 1e-9


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
