"""Service is back when the last dip of the broken phase is over and the load has held."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_series, make_signal
from tests.measure.views import data_of, view

from brownout.measure.baseline import check
from brownout.measure.data import RunData
from brownout.measure.dips import Dip
from brownout.measure.recovery import (
    availability,
    current_tps,
    held,
    held_from,
    recovered_at,
    recovered_no_sooner,
    return_disturbance,
    return_recovery_time,
)
from brownout.measure.settings import MeasureSettings
from brownout.measure.view import View
from brownout.run.events import Event

LAB = MeasureSettings.lab()
LEVEL = flat_level(800.0)


def holds(dips: list[Dip], since: float = 5.0, seconds: int = 40, **more: Any) -> float | None:
    counts = [80] * (10 * seconds)
    signal = make_signal(counts, counts, **more)
    return held_from(signal, dips, LEVEL, since, seconds, LAB)


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
def test_a_load_holds_from_the_first_moment_that_no_dip_follows_for_a_whole_hold(
    dips: list[Dip], moment: float | None
) -> None:
    assert holds(dips) == (None if moment is None else pytest.approx(moment))


def test_errors_that_end_after_the_dip_keep_the_load_from_holding() -> None:
    errors = [0] * 70 + [5] * 9 + [0] * 321
    assert holds([Dip(5.0, 6.9)], errors=errors) == pytest.approx(7.9, abs=0.11)


@pytest.mark.parametrize(("count", "moment"), [(4, 5.0), (5, 6.1)])
def test_a_thousandth_of_errors_is_allowed_over_the_hold(count: int, moment: float) -> None:
    errors = [0] * 60 + [count] + [0] * 339  # 0.1 % of the 4,000 of a hold are 4
    assert holds([], errors=errors) == pytest.approx(moment)


def test_one_error_is_allowed_at_any_rate() -> None:
    few = [1] * 400
    errors = [0] * 60 + [1] + [0] * 339
    signal = make_signal(few, few, errors=errors)
    assert held_from(signal, [], flat_level(10.0), 5.0, 40.0, LAB) == 5.0


def test_errors_at_the_baseline_ratio_are_no_reason_to_wait() -> None:
    errors = [1] * 400
    signal = make_signal([80] * 400, [80] * 400, errors=errors)
    usual = flat_level(800.0, error_ratio=1 / 80)
    assert held_from(signal, [], usual, 5.0, 40.0, LAB) == 5.0
    assert held_from(signal, [], LEVEL, 5.0, 40.0, LAB) is None


@given(
    st.lists(st.tuples(st.integers(50, 350), st.integers(1, 60)), max_size=4),
    st.floats(5.0, 30.0),
)
def test_a_load_that_holds_has_no_dip_for_a_whole_hold(
    spans: list[tuple[int, int]], since: float
) -> None:
    dips = [Dip(a / 10, (a + n) / 10) for a, n in sorted(spans)]
    moment = holds(dips, since)
    if moment is None:
        assert any(dip.end > 35.0 - 1e-6 for dip in dips) or since > 35.0
    else:
        assert moment >= since
        hold = (moment + 1e-6, moment + LAB.hold_s - 1e-6)
        assert not any(dip.start < hold[1] and dip.end > hold[0] for dip in dips)


@given(st.integers(0, 60), st.integers(1, 60))
def test_a_longer_dip_never_means_an_earlier_hold(length: int, more: int) -> None:
    def moment(buckets: int) -> float:
        return holds([Dip(6.0, 6.0 + buckets / 10)] if buckets else []) or 99.0

    assert moment(length + more) >= moment(length)


def seen(
    *dips: tuple[float, float], mended: float | None = None, end: float = 80.0, **more: Any
) -> tuple[View, RunData]:
    """What a load of 80 s saw that was not served in `dips`; the fault is at 30 s."""
    ok = [0 if any(a <= i / 10 < b for a, b in dips) else 80 for i in range(800)]
    events = [Event(1, "break", "kill_node", "n1", requested=30.0, effective=30.0)]
    if mended is not None:
        mend = Event(2, "mend", "start_node", "n1", requested=mended - 0.5, effective=mended)
        events.append(replace(mend, **more))
    data = data_of(make_series([80] * 800, ok), LAB, events)
    return view(data, 30.0, end), data


def recovered(*dips: tuple[float, float], **more: Any) -> float | None:
    """When service was back, since the effect."""
    moment = recovered_at(seen(*dips, **more)[0])
    return None if moment is None else moment - 30.0


def returned(*dips: tuple[float, float], **more: Any) -> float | tuple[float, float | None] | None:
    return return_recovery_time(*seen(*dips, **more))


@pytest.mark.parametrize(
    ("dips", "mended", "back"),
    [
        ([], None, 0.0),
        ([], 32.0, 0.0),
        ([(30, 33)], None, 3.0),
        ([(45, 65)], None, 35.0),  # a calm moment before the first dip is not a recovery
        ([(39, 48)], 60.0, 18.0),
        ([(30, 33), (50, 51)], None, 21.0),  # until a mend every dip is of the fault
        ([(30, 33), (50, 51)], 45.0, 3.0),  # that is of the return
        ([(30, 33), (50, 51)], 50.15, 21.0),  # it began before the mend
        ([(30, 33), (50, 51)], 50.05, 3.0),  # in its bucket it may have begun with it
        ([(30, 33), (37.9, 40)], 37.0, 10.0),  # within the hold of one that counts
        ([(30, 33), (38.0, 40)], 37.0, 3.0),
        ([(30, 33), (37, 40), (44, 46), (51, 52)], 35.0, 16.0),  # one of another
        ([(30, 50)], 40.0, 20.0),
        ([(33, 34)], 32.0, 0.0),  # nothing was felt until the mend
        ([(28, 29)], None, 0.0),
        ([(60, 75)], None, 45.0),
        ([(60, 75.1)], None, None),  # no time left to hold
        ([(30, 80)], None, None),
    ],
)
def test_recovery_is_the_end_of_the_last_dip_of_the_broken_phase(
    dips: list[tuple[float, float]], mended: float | None, back: float | None
) -> None:
    assert recovered(*dips, mended=mended) == (None if back is None else pytest.approx(back))


@pytest.mark.parametrize(
    ("dips", "mended", "again"),
    [
        ([(30, 33)], None, None),  # nothing was mended
        ([(30, 33)], 45.0, 0.0),
        ([(30, 33), (50, 51.5)], 45.0, 6.5),
        ([(30, 33), (50, 51), (70, 71)], 45.0, 26.0),  # the last of them
        ([(30, 33), (37, 40)], 35.0, 0.0),  # it counts for the recovery
        ([(33, 34)], 32.0, 2.0),
        ([(30, 33), (50, 80)], 45.0, (35.0, None)),
        ([(30, 80)], 45.0, 0.0),  # that is no recovery at all
    ],
)
def test_what_the_return_costs_ends_with_the_last_dip_that_begins_after_it(
    dips: list[tuple[float, float]], mended: float | None, again: Any
) -> None:
    expected = again if again is None or isinstance(again, tuple) else pytest.approx(again)
    assert returned(*dips, mended=mended) == expected


@pytest.mark.parametrize("more", [{"error": "it did not start"}, {"evidence": {"skipped": True}}])
def test_a_mend_that_has_no_effect_does_not_end_the_broken_phase(more: dict[str, Any]) -> None:
    assert recovered((30, 33), (50, 51), mended=45.0, **more) == pytest.approx(21.0)
    assert returned((30, 33), (50, 51), mended=45.0, **more) is None


@given(
    st.lists(st.tuples(st.integers(250, 600), st.integers(1, 150)), max_size=4),
    st.none() | st.integers(305, 700),
)
def test_service_is_not_back_before_the_end_of_a_blackout_of_the_broken_phase(
    spans: list[tuple[int, int]], mended: int | None
) -> None:
    dips = [(a / 10, (a + n) / 10) for a, n in sorted(spans)]
    view, _ = seen(*dips, mended=None if mended is None else mended / 10)
    assert view.blackout is not None
    back = recovered_at(view)
    until = min(view.mended, view.end)
    ends = [b for a, b in view.blackout.stretches if a < until - 0.1]
    if back is None:
        assert recovered_no_sooner(view) >= max([view.effective, *ends]) - 1e-6
    else:
        assert back >= max([view.effective, *ends]) - 1e-6
        assert recovered_no_sooner(view) <= back + 1e-6


def test_a_load_that_ended_before_a_whole_hold_has_not_shown_that_it_recovered() -> None:
    view, _ = seen(mended=31.0)
    short = replace(view, until=33.0)
    assert recovered_at(short) is None
    assert recovered_no_sooner(short) == 30.0


@pytest.mark.parametrize(("depth", "back"), [(0.1, 2.0), (0.5, 21.0)])
def test_a_dip_in_throughput_that_noise_may_be_is_not_a_late_part_of_the_fault(
    depth: float, back: float
) -> None:
    ok = [0 if 300 <= i < 320 else round(80 * (1 - depth)) if 500 <= i < 510 else 80
          for i in range(800)]  # fmt: skip
    data = data_of(make_series(ok, ok, closed=True), LAB)
    noisy = view(data, 30.0, 80.0)
    level = replace(noisy.level, detectable=0.2)
    moment = recovered_at(replace(noisy, level=level))
    assert moment is not None
    assert moment - 30.0 == pytest.approx(back)


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


KILLED = Event(1, "break", "kill_node", "n1", requested=30.0, effective=30.0)
STARTED = Event(2, "mend", "start_node", "n1", requested=35.0, effective=35.2)


@pytest.mark.parametrize(
    ("ok", "cost"),
    [
        ([80] * 300 + [0] * 10 + [80] * 90, 0.0),  # a dip at the fault only
        ([80] * 300 + [0] * 10 + [80] * 50 + [0] * 15 + [80] * 25, 1.5),  # and one at the return
        ([80] * 300 + [0] * 60 + [80] * 40, 0.0),  # one that was going on when it returned
    ],
)
def test_dips_that_began_after_the_return_are_counted(ok: list[int], cost: float) -> None:
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED, STARTED))
    assert return_disturbance(view(data, 30.0, 40.0), data) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("first", "cost"),
    [(350, 1.5), (351, 1.4), (349, 0.0)],  # in its bucket, after it, before it
)
def test_a_dip_in_the_bucket_of_the_return_began_with_it(first: int, cost: float) -> None:
    resumed = Event(2, "mend", "resume_node", "n1", requested=35.04, effective=35.05)
    ok = [80] * first + [0] * (365 - first) + [80] * 35
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED, resumed))
    assert return_disturbance(view(data, 30.0, 40.0), data) == pytest.approx(cost)


def test_a_fault_in_which_no_node_returned_has_none() -> None:
    ok = [80] * 300 + [0] * 10 + [80] * 90
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED,))
    assert return_disturbance(view(data, 30.0, 40.0), data) is None
