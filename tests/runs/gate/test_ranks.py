"""Two samples by ranks, held against scipy's own tests and against shifts that are known."""

import math

import numpy as np
import pytest
import scipy  # `scipy.stats` takes a second to import, which the first test that uses it pays

from brownout.runs.gate.ranks import edge_rank, null_below, shift


@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 7), (8, 8), (12, 9)])
def test_the_interval_leaves_out_nothing_where_scipy_sees_a_difference(n: int, m: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(25):
        before, after = random.normal(size=n), random.normal(0.9, size=m)
        found = shift(before.tolist(), after.tolist())
        assert found.low is not None
        assert found.high is not None
        differs = scipy.stats.mannwhitneyu(before, after, method="exact").pvalue <= 0.05
        assert (found.low > 0 or found.high < 0) == differs


@pytest.mark.parametrize(
    ("n", "m", "method"), [(5, 5, "permutation"), (9, 8, "exact"), (25, 40, "asymptotic")]
)
def test_the_chance_is_scipys(n: int, m: int, method: str) -> None:
    random = np.random.default_rng(3)
    decimals = 12 if method == "exact" else 1  # where values are equal, scipy's "exact" is not
    permutation = scipy.stats.PermutationMethod(n_resamples=20_000)
    how = permutation if method == "permutation" else method
    for _ in range(25):
        before = random.normal(size=n).round(decimals)
        after = random.normal(0.4, size=m).round(decimals)
        wanted = scipy.stats.mannwhitneyu(after, before, alternative="greater", method=how).pvalue
        assert shift(before.tolist(), after.tolist()).p == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "m"), [(3, 4), (5, 5), (7, 6)])
def test_the_distribution_of_the_statistic_is_scipys(n: int, m: int) -> None:
    for u in (0, 1, n, n * m // 2):
        # Samples with u pairs in which the first is greater: push single values of it up.
        first, second = np.arange(n) / 100 - 1.0, np.arange(m, dtype=float)
        left = u
        for place in reversed(range(n)):
            steps = min(left, m)
            first[place] = steps - 0.5 + place / 100
            left -= steps
        test = scipy.stats.mannwhitneyu(first, second, alternative="less", method="exact")
        assert null_below(n, m)[u] == pytest.approx(test.pvalue), u


def test_the_interval_holds_the_true_shift_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    trials, held = 600, 0
    for _ in range(trials):
        before = random.lognormal(1.0, 0.3, 6)
        found = shift(before.tolist(), (random.lognormal(1.0, 0.3, 7) + 0.8).tolist())
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.8 <= found.high
    assert 0.93 <= held / trials <= 0.985


def test_five_against_five_can_at_best_be_one_in_252() -> None:
    found = shift([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
    assert found.p == pytest.approx(1 / 252)
    assert (found.estimate, found.low, found.high) == (5.0, 2.0, 8.0)


def test_three_against_three_have_no_interval() -> None:
    assert edge_rank(3, 3, 0.025) == 0
    assert shift([1, 2, 3], [4, 5, 6]).low is None


def test_values_that_are_all_the_same_have_not_shifted() -> None:
    for count in (5, 30):
        found = shift([1.0] * count, [1.0] * count)
        assert (found.estimate, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_what_was_never_reached_is_worse_than_any_value() -> None:
    never = math.inf
    found = shift([2.0, 2.1, 2.2, 2.3, 2.4], [never] * 5)
    assert (found.estimate, found.low) == (never, never)
    assert found.p == pytest.approx(1 / 252)
    assert shift([never] * 5, [never] * 5).estimate == 0.0
