"""Thinning keeps every extreme: a dip of one bucket in seven hours still reaches the bottom."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brownout.show.report.thin import MOST_POINTS, keep_windows, thin

numbers = st.floats(-1e6, 1e6) | st.just(float("nan"))


@given(st.lists(numbers, max_size=400), st.integers(3, 60))
def test_lowest_and_highest_of_every_bin_stay(values: list[float], most: int) -> None:
    series = np.array(values, dtype=np.float64)
    kept = thin(series, most)
    width = -(-len(series) // (most // 3)) if len(series) > most else 1
    for start in range(0, len(series), width):
        whole = series[start : start + width]
        inside = series[kept[(kept >= start) & (kept < start + width)]]
        if np.isfinite(whole).any():
            assert np.nanmin(inside) == np.nanmin(whole)
            assert np.nanmax(inside) == np.nanmax(whole)
        if np.isnan(whole).any():
            assert np.isnan(inside).any()


@given(st.lists(numbers, min_size=1, max_size=400), st.integers(3, 60))
def test_kept_are_few_in_order_and_have_both_ends(values: list[float], most: int) -> None:
    kept = thin(np.array(values, dtype=np.float64), most)
    assert (np.diff(kept) > 0).all()
    assert kept[0] == 0
    assert kept[-1] == len(values) - 1
    assert len(kept) <= most + 2


@given(st.lists(numbers, max_size=60))
def test_short_series_stays_whole(values: list[float]) -> None:
    assert thin(np.array(values, dtype=np.float64), 60).tolist() == list(range(len(values)))


@given(st.integers(0, 25_199), st.integers(1, 10))
def test_one_bad_bucket_in_many_is_kept(at: int, depth: int) -> None:
    series = np.full(25_200, 100.0)
    series[at] -= depth
    assert at in thin(series, 500)


def test_windows_are_kept_in_full_beside_a_thinned_rest() -> None:
    times = np.arange(252_000) / 10
    values = np.random.default_rng(7).normal(100, 1, len(times))
    window = keep_windows(times, [(1000.0, 1060.0)])
    kept = thin(values, MOST_POINTS, window)
    assert len(window) == 600
    assert set(window.tolist()) <= set(kept.tolist())
    assert len(kept) <= MOST_POINTS + len(window) + 2


def test_windows_together_have_a_limit() -> None:
    times = np.arange(10_000) / 10
    assert len(keep_windows(times, [(0.0, 500.0), (500.0, 1000.0)], most=1000)) == 1000
