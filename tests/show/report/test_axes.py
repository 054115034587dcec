"""Axes have round ticks and put values where they belong."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.show.report import axes


@given(st.floats(1e-3, 1e9))
def test_linear_axis_holds_its_highest_value_with_few_ticks(high: float) -> None:
    axis = axes.linear(high)
    assert axis.high >= high * (1 - 1e-9)
    assert axis.high <= 2.6 * high
    assert 3 <= len(axis.ticks) <= 7
    assert (axis.ticks[0].position, axis.ticks[-1].position) == (0.0, 1.0)


@pytest.mark.parametrize("high", [0.0, -1.0, float("nan"), float("inf")])
def test_linear_axis_of_nothing_can_be_drawn(high: float) -> None:
    assert axes.linear(high).high == 1.0


@given(st.floats(0, 1e6), st.floats(0.1, 1e6))
def test_time_axis_has_ticks_in_order_within_it(start: float, length: float) -> None:
    axis = axes.time(start, start + length)
    places = [tick.position for tick in axis.ticks]
    assert places == sorted(places)
    assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
    assert len(places) <= 13


def test_long_run_is_labelled_in_minutes_and_hours() -> None:
    labels = [tick.label for tick in axes.time(0, 25_200).ticks]
    assert labels[:3] == ["0:00", "1:00:00", "2:00:00"]
    assert [tick.label for tick in axes.time(0, 60).ticks][:2] == ["0 s", "10 s"]


def test_logarithmic_axis_spans_whole_decades() -> None:
    axis = axes.logarithmic(0.3, 812.0)
    assert [tick.label for tick in axis.ticks] == ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
    assert axis.position(10.0) == pytest.approx(0.5)


def test_percentile_axis_gives_each_nine_the_same_room() -> None:
    axis = axes.percentiles(4000)
    assert [tick.label for tick in axis.ticks] == ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]
    assert axis.position(100.0) == pytest.approx(0.5)
    assert math.isclose(axis.ticks[2].position, axis.position(100.0))
