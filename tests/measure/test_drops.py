"""How far throughput fell, at several resolutions, beside what noise makes of the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_signal

from brownout.measure.drops import tps_drop, tps_drop_at, tps_drop_interval, tps_drop_sham
from brownout.measure.level import level_of
from brownout.measure.settings import MeasureSettings

LAB = MeasureSettings.lab()
OK = [80] * 300 + [40] * 20 + [0] * 3 + [80] * 177


def test_the_lowest_second_decides() -> None:
    signal = make_signal(OK)
    assert tps_drop(signal, flat_level(800.0), 30.0, 50.0) == pytest.approx(1 - 280 / 800)


@pytest.mark.parametrize(
    ("resolution_s", "drop"), [(0.1, 1.0), (0.5, 0.6), (1.0, 0.5), (5.0, 0.26)]
)
def test_a_coarse_graph_shows_less_of_it(resolution_s: float, drop: float) -> None:
    found = tps_drop_at(make_signal(OK), flat_level(800.0), 30.0, 50.0, resolution_s)
    assert found == pytest.approx(drop)


def test_noise_alone_is_shown_beside_the_drop() -> None:
    noisy = np.random.default_rng(3).poisson(80, 400).tolist()
    signal = make_signal(noisy)
    level = level_of(signal, 0.0, 30.0, LAB)
    sham = tps_drop_sham(signal, level, 10.0)
    assert sham is not None
    assert 0.02 < sham < 0.15
    assert sham <= (tps_drop_sham(signal, level, 30.0) or 0.0)  # the longer, the deeper
    assert tps_drop_sham(make_signal([80] * 400), flat_level(800.0), 10.0) == 0.0


def test_an_interval_needs_ten_blocks() -> None:
    noisy = np.random.default_rng(3).poisson(80, 600).tolist()
    signal = make_signal(noisy)
    for seconds, known in ((20.0, True), (9.0, False)):
        level = level_of(signal, 30.0 - seconds, 30.0, LAB)
        assert (tps_drop_interval(signal, level, 30.0, 60.0, LAB) is not None) is known


def test_nothing_is_known_of_no_data() -> None:
    signal = make_signal([80] * 5)
    assert tps_drop(signal, flat_level(800.0), 0.0, 0.5) is None
    assert tps_drop(signal, flat_level(0.0), 0.0, 0.5) is None
    assert tps_drop_at(signal, flat_level(0.0), 0.0, 0.5, 0.1) is None


@given(
    st.lists(st.integers(0, 200), min_size=20, max_size=60),
    st.integers(0, 59),
    st.integers(0, 200),
)
def test_serving_less_never_makes_the_drop_smaller(ok: list[int], at: int, less: int) -> None:
    worse = list(ok)
    worse[at % len(ok)] = max(0, worse[at % len(ok)] - less)
    end = len(ok) / 10
    before = tps_drop(make_signal(ok), flat_level(800.0), 0.0, end)
    after = tps_drop(make_signal(worse), flat_level(800.0), 0.0, end)
    assert before is not None
    assert after is not None
    assert after >= before


def test_theta_is_five_percent_or_three_sigma() -> None:
    calm = level_of(make_signal([80] * 300), 0.0, 30.0, LAB)
    assert (calm.tps, calm.sigma, calm.theta) == (800.0, 0.0, 0.05)
    noisy = np.random.default_rng(3).poisson(20, 600).tolist()
    rough = level_of(make_signal(noisy), 0.0, 60.0, LAB)
    assert rough.theta == pytest.approx(3 * rough.sigma / rough.tps)
    assert rough.theta > 0.1
    assert rough.theta_bucket > rough.theta
