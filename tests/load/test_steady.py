"""When a load is called steady, on series whose drift is known."""

import numpy as np
import pytest

from brownout.load.steady import WINDOWS, Window, steadiness


def windows(tps: list[float], p99: list[float] | None = None) -> list[Window]:
    slow = p99 or [1000.0] * len(tps)
    return [Window(rate, time) for rate, time in zip(tps, slow, strict=True)]


def test_a_level_with_noise_is_steady() -> None:
    chance = np.random.default_rng(3)
    found = windows(list(chance.normal(5000, 50, 20)), list(chance.normal(1000, 30, 20)))
    assert steadiness(found, 0.05).steady


@pytest.mark.parametrize("drift", [-0.3, 0.3])
def test_a_level_that_drifts_is_not_and_says_by_how_much(drift: float) -> None:
    found = windows(list(5000 * (1 + drift * np.linspace(0, 1, WINDOWS))))
    told = steadiness(found, 0.05)
    assert not told.steady
    assert "throughput drifts by" in told.why


def test_in_open_loop_response_time_decides() -> None:
    found = windows([800.0] * WINDOWS, list(np.linspace(1000, 1500, WINDOWS)))
    told = steadiness(found, 0.05)
    assert not told.steady
    assert "p99 drifts by" in told.why


def test_a_fall_that_has_ended_is_steady_once_it_is_out_of_sight() -> None:
    falling = list(np.linspace(9000, 5000, 10))
    assert not steadiness(windows([*falling, *[5000.0] * 4]), 0.05).steady
    assert steadiness(windows([*falling, *[5000.0] * WINDOWS]), 0.05).steady


def test_a_step_between_the_halves_is_not_steady() -> None:
    half = WINDOWS // 2
    assert not steadiness(windows([5000.0] * half + [4000.0] * half), 0.05).steady


def test_too_few_windows_and_empty_ones_are_not_steady() -> None:
    assert steadiness(windows([1.0] * (WINDOWS - 1)), 0.05).why == "7 of 8 windows so far"
    assert not steadiness(windows([1.0] * (WINDOWS - 1) + [0.0]), 0.05).steady
    nothing = [*windows([1.0] * (WINDOWS - 1)), Window(1.0, None)]
    assert not steadiness(nothing, 0.05).steady
