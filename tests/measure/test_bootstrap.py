"""Intervals by moving blocks: the same each time, and wide enough for autocorrelated noise."""

import numpy as np
import pytest

from brownout.measure.bootstrap import interval, medians
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats

SETTINGS = MeasureSettings.default()


def wandering(random: np.random.Generator, length: int = 600) -> Floats:
    """Return noise in which neighbours are alike, around 100."""
    noise = random.normal(0, 1, length)
    for i in range(1, length):
        noise[i] += 0.8 * noise[i - 1]
    return np.asarray(100 + noise, np.float64)


def test_medians_are_those_of_series_made_of_blocks() -> None:
    values = wandering(np.random.default_rng(2), 605)  # so that a block is cut off at the end
    settings = MeasureSettings.from_mapping({"resamples": 50})
    starts = np.random.default_rng(20_260_101).integers(0, 605 - 50 + 1, (50, 13))
    series = np.array([np.concatenate([values[s : s + 50] for s in row])[:605] for row in starts])

    found = medians(values, settings)

    assert found is not None
    assert found[0].tolist() == np.median(series, axis=1).tolist()
    assert found[1].tolist() == series[:, 0].tolist()


@pytest.mark.parametrize("different", [1, 3, 300, 70_000])
def test_they_are_exact_however_many_values_there_are(different: int) -> None:
    values = np.random.default_rng(3).permutation(np.arange(70_000) % different) * 10.0
    settings = MeasureSettings.from_mapping({"block_s": 7000.0, "blocks_min": 1, "resamples": 3})

    found = medians(values, settings)  # the only block is the whole

    assert found is not None
    assert found[0].tolist() == [np.median(values)] * 3


def test_the_same_values_give_the_same_interval() -> None:
    values = wandering(np.random.default_rng(1))
    assert interval(values, SETTINGS) == interval(values.copy(), SETTINGS)


@pytest.mark.parametrize(("length", "known"), [(499, False), (500, True)])
def test_fewer_than_ten_blocks_give_none(length: int, known: bool) -> None:
    found = interval(wandering(np.random.default_rng(1), length), SETTINGS)
    assert (found is not None) == known


def test_the_interval_covers_where_independent_draws_would_not() -> None:
    random = np.random.default_rng(7)
    narrow = MeasureSettings.from_mapping({"block_s": 0.1, "resamples": 400})
    wide = MeasureSettings.from_mapping({"resamples": 400})
    hits = {"independent": 0, "blocks": 0}
    for _ in range(120):
        values = wandering(random)
        for name, settings in (("independent", narrow), ("blocks", wide)):
            found = interval(values, settings)
            assert found is not None
            hits[name] += found[0] <= 100.0 <= found[1]
    assert hits["independent"] < 0.7 * 120
    assert hits["blocks"] > 0.82 * 120
