"""The slope of a long load, on series whose slope is known."""

import numpy as np
import pytest

from brownout.measure.trend import LEAST, trend_of


def test_a_known_decay_is_found_with_an_interval_around_it() -> None:
    minutes = np.arange(120) * 60.0
    noise = np.random.default_rng(7).normal(0, 30, 120)
    trend = trend_of(list(minutes), list(20_000 - 400 * minutes / 3600 + noise))
    assert trend is not None
    assert trend.per_hour == pytest.approx(-400, rel=0.05)
    assert trend.low < -400 < trend.high
    assert trend.relative_per_hour == pytest.approx(-0.0204, rel=0.06)
    assert not trend.steady


def test_noise_alone_is_called_steady_as_often_as_the_interval_says() -> None:
    times, chance = list(np.arange(30) * 60.0), np.random.default_rng(1)
    found = [trend_of(times, list(chance.normal(1000, 20, 30))) for _ in range(400)]
    steady = sum(trend is not None and trend.steady for trend in found) / len(found)
    assert 0.92 <= steady <= 0.98


def test_single_odd_minutes_do_not_move_it() -> None:
    values: list[float | None] = [1000.0] * 20
    values[3] = values[11] = 10.0
    trend = trend_of([60.0 * n for n in range(20)], values)
    assert trend is not None
    assert (trend.per_hour, trend.steady) == (0.0, True)


def test_what_was_not_measured_is_left_out_and_too_little_is_no_trend() -> None:
    times = [60.0 * n for n in range(8)]
    values: list[float | None] = [1.0, None, 3.0, 4.0, None, 6.0, None, 8.0]
    trend = trend_of(times, values)
    assert trend is not None
    assert trend.n == LEAST
    assert trend.per_hour == pytest.approx(60.0)
    assert trend_of(times[:7], values[:7]) is None
