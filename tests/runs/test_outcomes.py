"""Two outcomes are told from one, with few false alarms, and every run is a dot."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from brownout.measure.impact import NEVER
from brownout.runs.outcomes import cells, one_cell, outcomes, times

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
#: Distributions with one peak, in seconds, wide enough that the least gap never decides.
ONE: dict[str, Draw] = {
    "normal": lambda random, n: random.normal(600, 100, n),
    "uniform": lambda random, n: random.uniform(0, 1000, n),
    "exponential": lambda random, n: random.exponential(300, n),
    "laplace": lambda random, n: random.laplace(900, 100, n),
    "gamma": lambda random, n: random.gamma(2, 300, n),
    "log-normal": lambda random, n: random.lognormal(6, 1.0, n),
}


@pytest.mark.parametrize(
    ("values", "two"),
    [
        ((2.0, 2.5, 3.0, 3.5, 4.0), False),  # spread, and no gap
        ((2.0, 2.0, 2.0, 2.0, 117.0), False),  # a single one is the worst, and no outcome
        ((0.1, 0.1, 0.9, 0.9, 0.9), False),  # less than a second apart
        ((10.0, 10.0, 12.0, 12.0, 12.0), False),  # a little more of the same
        ((2.0, 4.0, 13.0, 15.0), False),  # of four runs, a gap of four widths is chance
        ((0.0, 0.0, 9.0, 9.0, 9.0), True),
        ((4.0, 4.2, 5.0, NEVER, NEVER), True),
        ((NEVER, NEVER, NEVER, NEVER, NEVER), False),
        ((4.0, 30.0, 4.0), False),
        ((4.0, 5.0, 6.0, 1161.0, 1420.0), True),  # by ratios
        # etcd's hang and MongoDB's return after a rollback, as they were measured
        ((16.16, 32.25, 33.01, 32.79, 16.14), True),
        ((19.2, 174.6, 165.9, 18.2, 17.7), True),
    ],
)
def test_two_outcomes_want_a_gap_that_is_no_spread(values: tuple[float, ...], two: bool) -> None:
    assert bool(outcomes("recovery_time", values)) is two


@pytest.mark.parametrize("n", range(3, 21))
def test_one_outcome_is_rarely_taken_for_two(n: int) -> None:
    sets = 1000
    for name, draw in ONE.items():
        random = np.random.default_rng(n)
        samples = draw(random, sets * n).reshape(sets, n)
        alarms = sum(bool(outcomes("recovery_time", sample.tolist())) for sample in samples)
        assert alarms <= 0.02 * sets, (name, alarms)  # 1 %, and three sigmas of a thousand sets


@pytest.mark.parametrize("n", [4, 5, 8, 12, 20])
def test_two_outcomes_that_are_far_apart_are_found(n: int) -> None:
    random = np.random.default_rng(n)
    seen = 0
    for _ in range(200):
        slow = int(random.integers(2, n - 1))
        sample = np.concatenate((random.normal(16, 0.3, n - slow), random.normal(33, 0.3, slow)))
        seen += bool(outcomes("recovery_time", sample.tolist()))
    assert seen >= 0.9 * 200


def test_the_fewer_the_runs_the_wider_the_gap() -> None:
    wanted = [times(n) for n in range(3, 30)]
    assert wanted[0] == math.inf
    assert wanted == sorted(wanted, reverse=True)


def test_each_run_is_a_dot_on_one_scale() -> None:
    fast, slow = cells("recovery_time", [[1.0, 1.0, 4.0], [10.0, NEVER]])
    assert fast.dots == pytest.approx((0.1, 0.1, 0.4))
    assert fast.plain == "1 s  [ 2  ·       ]"
    assert slow.plain == "never  [           ·>"
    assert slow.markdown == "never `[           ·>`"
    assert cells("recovery_time", [[3.0]])[0].dots == ()
    assert one_cell("recovery_time", [0.0, 0.0], 0.0).dots == ()


def test_a_cell_has_two_outcomes_in_place_of_a_median_between_them() -> None:
    (cell,) = cells("recovery_time", [[16.16, 32.25, 33.01, 32.79, 16.14]])
    assert cell.words == "16.1 s to 16.2 s (2 of 5), 32.2 s to 33 s (3 of 5)"
