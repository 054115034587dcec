"""Two clocks and the pings between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.load.clock import GeneratorClock


def test_there_is_no_t_before_the_first_ping() -> None:
    clock = GeneratorClock()
    assert clock.to_t(1.0) is None
    assert clock.uncertainty(1.0) is None


def test_the_quickest_ping_counts() -> None:
    clock = GeneratorClock()
    clock.add(sent=100.0, received=100.2, t=5.0)
    clock.add(sent=101.0, received=101.002, t=6.001)
    clock.add(sent=102.0, received=102.5, t=7.0)
    assert clock.to_t(101.0) == 6.0
    assert clock.uncertainty(101.002) == pytest.approx(0.001)


def test_an_old_sample_gives_way_to_a_slower_fresh_one() -> None:
    clock = GeneratorClock()
    clock.add(sent=0.0, received=0.001, t=0.0)
    clock.add(sent=3600.0, received=3600.1, t=3601.05)
    assert clock.to_t(3600.0) == 3601.0


@pytest.mark.parametrize("slept_s", [30.0, -30.0, 2.0])
def test_a_clock_that_stood_still_is_believed_at_once_and_its_jump_is_known(slept_s: float) -> None:
    """A machine was suspended between two quick pings: the generator's, or ours."""
    clock = GeneratorClock()
    for second in range(10):
        clock.add(sent=second, received=second + 0.0004, t=second + 100.0002)
    clock.add(sent=20.0, received=20.0012, t=120.0006 + slept_s)
    assert clock.to_t(20.0) == pytest.approx(120.0 + slept_s)
    assert clock.jump_s == pytest.approx(abs(slept_s), abs=0.01)


def test_clocks_that_drift_apart_or_answer_slowly_do_not_jump() -> None:
    clock = GeneratorClock()
    for second in range(0, 36_000, 10):  # 500 parts in a million: the most that NTP slews
        slow = 3.0 if second % 100 == 0 else 0.0004
        clock.add(sent=second, received=second + slow, t=(second + slow / 2) * (1 + 500e-6))
    assert clock.jump_s == 0.0
    t = clock.to_t(36_000.0)
    assert t is not None
    assert abs(t - 36_000.0 * (1 + 500e-6)) < 0.1


@given(
    offset=st.floats(-1e6, 1e6),
    there=st.lists(st.floats(0, 0.05), min_size=1, max_size=20),
    back=st.floats(0, 0.05),
)
def test_the_error_is_within_the_uncertainty(
    offset: float, there: list[float], back: float
) -> None:
    clock = GeneratorClock()
    sent = 0.0
    for delay in there:
        clock.add(sent, sent + delay + back, sent + delay + offset)
        sent += 1.0
    t, bound = clock.to_t(sent), clock.uncertainty(sent)
    assert t is not None
    assert bound is not None
    assert abs(t - (sent + offset)) <= bound + 1e-6
