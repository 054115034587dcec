"""Service is back at the first moment that is followed by a whole hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_series, make_signal

from brownout.measure.baseline import check
from brownout.measure.dips import Dip
from brownout.measure.recovery import availability, current_tps, held, recovered_at
from brownout.measure.settings import MeasureSettings

LAB = MeasureSettings.lab()
LEVEL = flat_level(800.0)


def recovered(dips: list[Dip], since: float = 5.0, seconds: int = 40, **more: Any) -> float | None:
    counts = [80] * (10 * seconds)
    signal = make_signal(counts, counts, **more)
    return recovered_at(signal, dips, LEVEL, since, seconds, LAB)


@pytest.mark.parametrize(
    ("dips", "moment"),
    [
        ([], 5.0),
        ([Dip(5.0, 8.0)], 8.0),
        ([Dip(4.0, 8.25)], 8.25),
        ([Dip(7.0, 8.0)], 8.0),  # good for 2 s only: no hold
        ([Dip(10.0, 12.0)], 5.0),  # a whole hold before the dip
        ([Dip(9.9, 12.0)], 12.0),
        ([Dip(5.0, 6.0), Dip(10.0, 11.0), Dip(16.5, 17.0)], 11.0),
        ([Dip(5.0, 35.0)], 35.0),
        ([Dip(5.0, 35.1)], None),  # no time left to hold
        ([Dip(5.0, 40.0)], None),
        ([Dip(1.0, 3.0)], 5.0),
    ],
)
def test_recovery_is_the_first_moment_followed_by_a_hold(
    dips: list[Dip], moment: float | None
) -> None:
    assert recovered(dips) == (None if moment is None else pytest.approx(moment))


def test_errors_that_end_after_the_dip_keep_the_load_from_holding() -> None:
    errors = [0] * 70 + [5] * 9 + [0] * 321
    assert recovered([Dip(5.0, 6.9)], errors=errors) == pytest.approx(7.9, abs=0.11)


@pytest.mark.parametrize(("count", "moment"), [(4, 5.0), (5, 6.1)])
def test_a_thousandth_of_errors_is_allowed_over_the_hold(count: int, moment: float) -> None:
    errors = [0] * 60 + [count] + [0] * 339  # 0.1 % of the 4,000 of a hold are 4
    assert recovered([], errors=errors) == pytest.approx(moment)


def test_one_error_is_allowed_at_any_rate() -> None:
    few = [1] * 400
    errors = [0] * 60 + [1] + [0] * 339
    signal = make_signal(few, few, errors=errors)
    assert recovered_at(signal, [], flat_level(10.0), 5.0, 40.0, LAB) == 5.0


def test_errors_at_the_baseline_ratio_are_no_reason_to_wait() -> None:
    errors = [1] * 400
    signal = make_signal([80] * 400, [80] * 400, errors=errors)
    usual = flat_level(800.0, error_ratio=1 / 80)
    assert recovered_at(signal, [], usual, 5.0, 40.0, LAB) == 5.0
    assert recovered_at(signal, [], LEVEL, 5.0, 40.0, LAB) is None


@given(
    st.lists(st.tuples(st.integers(50, 350), st.integers(1, 60)), max_size=4),
    st.floats(5.0, 30.0),
)
def test_what_is_called_recovered_has_held(spans: list[tuple[int, int]], since: float) -> None:
    dips = [Dip(a / 10, (a + n) / 10) for a, n in sorted(spans)]
    moment = recovered(dips, since)
    if moment is None:
        assert any(dip.end > 35.0 - 1e-6 for dip in dips) or since > 35.0
    else:
        assert moment >= since
        hold = (moment + 1e-6, moment + LAB.hold_s - 1e-6)
        assert not any(dip.start < hold[1] and dip.end > hold[0] for dip in dips)


@given(st.integers(0, 60), st.integers(1, 60))
def test_a_longer_dip_never_means_an_earlier_recovery(length: int, more: int) -> None:
    def moment(buckets: int) -> float:
        return recovered([Dip(6.0, 6.0 + buckets / 10)] if buckets else []) or 99.0

    assert moment(length + more) >= moment(length)


def live(outage: tuple[int, int]) -> list[int]:
    return [0 if outage[0] <= i < outage[1] else 80 for i in range(400)]


def test_a_running_load_has_held_when_the_last_seconds_were_good() -> None:
    baseline = check(make_series([80] * 250, [80] * 250), 24.0, LAB)
    bad, good = live((300, 360)), live((300, 340))
    assert not held(make_series([80] * 400, bad), 30.0, baseline, LAB)
    assert held(make_series([80] * 400, good), 30.0, baseline, LAB)
    assert not held(make_series([80] * 400, good), 35.5, baseline, LAB)  # too early to say


def test_a_closed_loop_holds_by_throughput() -> None:
    baseline = check(make_series([80] * 250, [80] * 250, closed=True), 24.0, LAB)
    bad, good = live((300, 360)), live((300, 340))
    assert not held(make_series(bad, bad, closed=True), 30.0, baseline, LAB)
    assert held(make_series(good, good, closed=True), 30.0, baseline, LAB)


def test_stop_conditions_can_ask_for_the_last_seconds() -> None:
    series = make_series([80] * 400, live((380, 400)))
    assert availability(series, 4.0) == pytest.approx(0.5)
    assert availability(series, 40.0, "write") == pytest.approx(0.95)
    assert availability(series, 41.0) is None
    assert availability(series, 4.0, "read") is None
    assert current_tps(series) == 0.0
    assert current_tps(make_series([80] * 9, [80] * 9)) is None
