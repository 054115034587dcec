"""A baseline is accepted only where nothing speaks against it, and says what does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import make_series

from brownout.measure.baseline import Baseline, check, theil_sen
from brownout.measure.bootstrap import Interval
from brownout.measure.level import level_interval
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import signal_of

LAB = MeasureSettings.lab()
STEADY = [80] * 300


def _once(count: int) -> list[int]:
    """Return counts that are all 0 but for the bucket at 20 s."""
    return [0] * 200 + [count] + [0] * 99


def failed(baseline: Baseline) -> list[str]:
    return [test.name for test in baseline.tests if not test.ok]


def interval_of(counts: list[int], settings: MeasureSettings) -> Interval | None:
    """The interval of the level of a baseline that ends at 25 s."""
    series = make_series(counts, counts)
    level = check(series, 25.0, settings).level
    return level_interval(signal_of(series, "total"), level, settings)


def test_a_steady_load_is_a_baseline() -> None:
    found = check(make_series(STEADY, STEADY), 25.0, LAB)
    assert found.ok
    assert found.stable
    assert (found.tps, interval_of(STEADY, LAB)) == (800.0, (800.0, 800.0))
    assert (found.level.start, found.level.end) == (5.0, 25.0)


def test_every_test_says_value_and_limit() -> None:
    for test in check(make_series(STEADY, STEADY), 25.0, LAB).tests:
        assert test.detail
        assert np.isfinite([test.value, test.limit]).all()


@pytest.mark.parametrize(
    ("name", "offered", "ok", "more"),
    [
        ("drift", [80 + i // 20 for i in range(300)], None, {}),
        ("halves", [80] * 150 + [90] * 150, None, {}),
        ("variation", [c for c in (40, 130, 60, 150, 80) * 6 for _ in range(10)], None, {}),
        ("errors", STEADY, [*STEADY[:200], 77, *STEADY[201:]], {}),
        ("missed", STEADY, [*STEADY[:200], 60, *STEADY[201:]], {"missed": _once(20)}),
        ("shed", STEADY, [*STEADY[:200], 79, *STEADY[201:]], {"shed": _once(1)}),
        ("delivered", STEADY, [79] * 300, {"failed": [1] * 300}),
    ],
)  # fmt: skip
def test_what_is_not_steady_is_named(
    name: str, offered: list[int], ok: list[int] | None, more: dict[str, Any]
) -> None:
    found = check(make_series(offered, ok or offered, **more), 25.0, LAB)
    assert name in failed(found)
    assert not found.ok


@pytest.mark.parametrize(
    ("missed", "named"), [(2, []), (3, []), (6, ["starved"])], ids=lambda part: str(part)
)
def test_in_open_loop_a_little_that_was_missed_keeps_no_run_from_being_judged(
    missed: int, named: list[str]
) -> None:
    served = [80 - missed] * 300
    found = check(make_series(STEADY, served, missed=[missed] * 300, failed=[0] * 300), 25.0, LAB)
    assert [test.name for test in found.failed] == named
    assert not found.throughput_known, "what is made of throughput is not measured"


def test_a_closed_loop_that_was_missed_is_no_baseline() -> None:
    series = make_series(STEADY, [78] * 300, closed=True, missed=[2] * 300, failed=[0] * 300)
    assert "missed" in [test.name for test in check(series, 25.0, LAB).failed]


def test_one_error_is_always_allowed() -> None:
    ok = [*STEADY[:200], 79, *STEADY[201:]]
    assert check(make_series(STEADY, ok), 25.0, LAB).ok


def test_a_load_that_is_not_delivered_may_still_be_stable() -> None:
    found = check(make_series(STEADY, [79] * 300, failed=[0] * 300), 25.0, LAB)
    assert found.stable
    assert failed(found) == ["delivered"]


@pytest.mark.parametrize(
    ("length", "end"), [(0, 0.0), (1, 5.0), (5, 0.3), (150, 14.0), (300, -1.0)]
)
def test_too_short_a_load_is_no_baseline_and_no_error(length: int, end: float) -> None:
    found = check(make_series(STEADY[:length], STEADY[:length]), end, LAB)
    assert "length" in failed(found)


def test_a_load_that_serves_nothing_is_no_baseline() -> None:
    found = check(make_series(STEADY, [0] * 300), 25.0, LAB)
    assert {"length", "drift", "delivered"} <= set(failed(found))
    assert found.tps == 0.0


def test_moving_data_is_no_baseline_where_it_is_known() -> None:
    series = make_series(STEADY, STEADY)
    assert failed(check(series, 25.0, LAB, migrating=True)) == ["migrations"]
    assert check(series, 25.0, LAB, migrating=False).ok


def test_fewer_than_ten_blocks_give_no_interval() -> None:
    short = MeasureSettings.from_mapping({**LAB.as_dict(), "baseline_s": 9.0})
    assert check(make_series(STEADY, STEADY), 25.0, short).ok
    assert interval_of(STEADY, short) is None


def test_the_interval_of_the_level_holds_it() -> None:
    noisy = np.random.default_rng(1).poisson(80, 300).tolist()
    low, high = interval_of(noisy, LAB) or (0.0, 0.0)
    assert low < check(make_series(noisy, noisy), 25.0, LAB).tps < high


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40), st.integers(-50, 50))
def test_theil_sen_finds_the_slope_that_is_added(values: list[int], slope: int) -> None:
    flat = np.array(values, np.float64)
    tilted = flat + slope * np.arange(len(values))
    assert theil_sen(tilted) == pytest.approx(theil_sen(flat) + slope, abs=1e-6)


@given(st.lists(st.integers(0, 200), min_size=0, max_size=260))
def test_any_series_gets_an_answer(counts: list[int]) -> None:
    found = check(make_series(counts, counts), len(counts) / 10, LAB)
    assert all(np.isfinite([t.value, t.limit]).all() for t in found.tests)


def test_noise_beyond_what_is_allowed_makes_no_baseline_steady() -> None:
    stalls = [0 if bucket // 15 % 2 else 160 for bucket in range(300)]
    found = check(make_series(stalls, stalls), 25.0, LAB)
    assert "variation" in failed(found)
    for test in found.tests:
        assert test.name not in ("drift", "halves") or test.limit < 0.6


def test_a_step_and_a_trend_are_no_noise() -> None:
    step = check(make_series([80] * 150 + [84] * 150, [80] * 150 + [84] * 150), 25.0, LAB)
    assert step.test("halves").limit < LAB.halves_max + 0.001
    trend = [80 + bucket // 10 for bucket in range(300)]
    assert check(make_series(trend, trend), 25.0, LAB).test("drift").limit < LAB.drift_max + 0.01
