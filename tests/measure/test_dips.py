"""Where a load was worse than it should be, by success ratio and by throughput."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_signal

from brownout.measure.dips import Dip, below_ratio, clip, find_dips
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import runs

SETTINGS = MeasureSettings.default()
counts = st.lists(st.integers(0, 150), min_size=1, max_size=80)


def by_ratio(offered: list[int], ok: list[int]) -> list[tuple[float, float]]:
    signal = make_signal(ok, offered, born=offered, served=ok)
    return [(dip.start, dip.end) for dip in find_dips(signal, flat_level(), SETTINGS)]


def by_throughput(ok: list[int], **level: float) -> list[Dip]:
    return find_dips(make_signal(ok), flat_level(1000.0, **level), SETTINGS)


@pytest.mark.parametrize(
    ("offered", "ok", "dips"),
    [
        ([100] * 5, [100] * 5, []),
        ([100] * 5, [100, 99, 100, 99, 100], []),  # 99 % is not below 99 %
        ([100] * 5, [100, 98, 98, 100, 100], [(0.1, 0.3)]),
        ([100] * 9, [98, 100, 100, 100, 98, 100, 100, 100, 100], [(0.0, 0.5)]),  # gap of 0.3 s
        ([100] * 9, [98, 100, 100, 100, 100, 98, 100, 100, 100], [(0.0, 0.1), (0.5, 0.6)]),
        ([0] * 6, [0] * 6, []),
        ([5] * 8, [5, 4, 5, 5, 5, 5, 5, 5], [(0.1, 0.2)]),  # judged among 20, its own bucket bad
        ([5] * 8, [5, 0, 0, 0, 0, 0, 5, 5], [(0.1, 0.6)]),
        ([1, 0, 1], [1, 0, 0], [(0.2, 0.3)]),  # too few for a pool: all there is
    ],
)
def test_a_dip_is_where_fewer_than_99_percent_were_served(
    offered: list[int], ok: list[int], dips: list[tuple[float, float]]
) -> None:
    assert by_ratio(offered, ok) == dips


def test_one_failure_in_150_is_no_dip_even_in_a_small_bucket() -> None:
    assert by_ratio([10, 150], [9, 150]) == []


@given(counts, st.data())
def test_dips_by_ratio_cover_every_bad_bucket_and_no_pool_without_failures(
    offered: list[int], data: st.DataObject
) -> None:
    ok = [data.draw(st.integers(0, n)) for n in offered]
    bad = below_ratio(np.array(offered), np.array(ok), SETTINGS)
    for first, end in runs(bad):
        assert ok[first] < offered[first]
        assert ok[end - 1] < offered[end - 1]
    for i, (n, served) in enumerate(zip(offered, ok, strict=True)):
        if n >= 40 and served < 0.98 * n * n / (n + 19):  # bad whatever 19 others it is pooled with
            assert bad[i]


@given(counts)
def test_a_load_that_is_all_served_has_no_dip(offered: list[int]) -> None:
    assert by_ratio(offered, offered) == []


def test_half_a_second_of_outage_is_half_a_second_long_by_throughput() -> None:
    (dip,) = by_throughput([100] * 50 + [0] * 5 + [100] * 50)
    assert (dip.start, dip.end) == pytest.approx((5.0, 5.5))


def test_a_shallow_dip_by_throughput_has_its_edges_corrected_for_the_mean() -> None:
    level = {"theta": 0.08, "theta_bucket": 0.2}
    (dip,) = by_throughput([100] * 50 + [80] * 50 + [100] * 50, **level)
    assert dip.start == pytest.approx(5.0, abs=0.15)
    assert dip.end == pytest.approx(10.0, abs=0.15)


def test_noise_of_the_baseline_is_no_dip_by_throughput() -> None:
    ok = [100] * 50 + [93] * 50 + [100] * 50
    assert by_throughput(ok, theta=0.05, deepest=1.25 * 0.06) == []
    assert len(by_throughput(ok, theta=0.05, deepest=1.25 * 0.04)) == 1


def test_without_a_level_there_is_no_dip_by_throughput() -> None:
    assert find_dips(make_signal([0] * 30), flat_level(0.0), SETTINGS) == []


def test_an_outage_that_begins_the_series_is_a_dip_by_throughput() -> None:
    (dip,) = by_throughput([0] * 20 + [100] * 30)
    assert (dip.start, dip.end) == pytest.approx((0.0, 2.0))


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 5)), max_size=6),
    st.floats(0, 40),
    st.floats(0, 20),
)
def test_clipping_never_lengthens(
    spans: list[tuple[float, float]], start: float, length: float
) -> None:
    dips = [Dip(a, a + b) for a, b in spans]
    clipped = clip(dips, start, start + length)
    assert sum(d.length for d in clipped) <= sum(d.length for d in dips) + 1e-9
    assert all(start <= d.start < d.end <= start + length for d in clipped)
