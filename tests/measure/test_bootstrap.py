"""Intervals by moving blocks: the same each time, and wide enough for autocorrelated noise."""

import numpy as np
import pytest

from brownout.measure.bootstrap import interval, resampled
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats

SETTINGS = MeasureSettings.default()


def wandering(random: np.random.Generator, length: int = 600) -> Floats:
    """Return noise in which neighbours are alike, around 100."""
    noise = random.normal(0, 1, length)
    for i in range(1, length):
        noise[i] += 0.8 * noise[i - 1]
    return np.asarray(100 + noise, np.float64)


def mean(series: Floats) -> Floats:
    return np.asarray(series.mean(axis=1), np.float64)


def test_resamples_are_made_of_the_series_own_blocks() -> None:
    values = np.arange(600.0)
    series = resampled(values, SETTINGS)
    assert series is not None
    assert series.shape == (SETTINGS.resamples, 600)
    within = np.diff(series, axis=1).reshape(-1)
    assert (within == 1.0).mean() > 0.97  # but where one block ends and the next begins


def test_the_same_values_give_the_same_interval() -> None:
    values = wandering(np.random.default_rng(1))
    assert interval(values, mean, SETTINGS) == interval(values.copy(), mean, SETTINGS)


@pytest.mark.parametrize(("length", "known"), [(499, False), (500, True)])
def test_fewer_than_ten_blocks_give_none(length: int, known: bool) -> None:
    found = interval(wandering(np.random.default_rng(1), length), mean, SETTINGS)
    assert (found is not None) == known


def test_the_interval_covers_where_independent_draws_would_not() -> None:
    random = np.random.default_rng(7)
    narrow = MeasureSettings.from_mapping({"block_s": 0.1, "resamples": 400})
    wide = MeasureSettings.from_mapping({"resamples": 400})
    hits = {"independent": 0, "blocks": 0}
    for _ in range(120):
        values = wandering(random)
        for name, settings in (("independent", narrow), ("blocks", wide)):
            found = interval(values, mean, settings)
            assert found is not None
            hits[name] += found[0] <= 100.0 <= found[1]
    assert hits["independent"] < 0.7 * 120
    assert hits["blocks"] > 0.82 * 120
