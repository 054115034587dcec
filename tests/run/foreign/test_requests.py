"""Requests as a series: whether a tool kept its schedule is seen in what it started."""

import random
from collections.abc import Callable

import pytest
from tests.run.foreign.test_reader import impact_of

from brownout.run.foreign.requests import Request, counted
from brownout.run.foreign.series import ForeignSeries

#: How long a request takes that begins at a time, in seconds.
Latency = Callable[[float], float]


def closed(workers: int, latency: Latency, ramp_s: float = 0.0) -> list[Request]:
    """Return 120 s of workers that wait for each answer; the last of them begins after a ramp."""
    chance = random.Random(1)
    requests = []
    for worker in range(workers):
        t = chance.random() * latency(0) + ramp_s * worker / workers
        while t < 120:
            took = latency(t) * (0.97 + 0.06 * chance.random())
            requests.append(Request(t, t + took, True))
            t += took
    return sorted(requests, key=lambda request: request.start)


def opened(
    rate: float,
    fails: Callable[[float, int], bool],
    even: bool = True,
    took_s: Latency | None = None,
) -> list[Request]:
    """Return 120 s of requests on a schedule, at even intervals or at random times."""
    chance = random.Random(1)
    requests: list[Request] = []
    t = 0.0
    while t < 120:
        took = took_s(t) if took_s else 0.002
        requests.append(Request(t, t + took, not fails(t, len(requests))))
        t = len(requests) / rate if even else t + chance.expovariate(rate)
    return requests


def series_at(requests: list[Request], fault_at: float) -> ForeignSeries:
    return counted(requests, fault_at, "csv", (), "file")


def test_a_closed_loop_that_only_slows_down_has_a_dip() -> None:
    series = series_at(closed(10, lambda t: 0.17 if 60 <= t < 90 else 0.1), 60)
    assert series.offered is None
    found = impact_of(series)
    assert found.course.degraded_time == pytest.approx(30, abs=1)
    assert found.losses.lost_operations == pytest.approx(1230, rel=0.05)


def test_a_closed_loop_that_began_with_a_ramp_is_seen_to_slow_down() -> None:
    slow = closed(10, lambda t: 0.17 if 60 <= t < 90 else 0.1, ramp_s=30)
    assert series_at(slow, 60).offered is None


@pytest.mark.parametrize("slower", [1.7, 3.0])
def test_a_closed_loop_of_a_few_requests_a_second_is_seen_to_wait(slower: float) -> None:
    series = series_at(closed(2, lambda t: 0.5 * (slower if 60 <= t < 90 else 1)), 60)
    assert series.offered is None


@pytest.mark.parametrize("fault_at", [60, 59.7, 59.3, 60.4])
@pytest.mark.parametrize("one_in", [25, 2, 1])
def test_an_open_loop_keeps_its_schedule_wherever_its_log_ends(
    fault_at: float, one_in: int
) -> None:
    series = series_at(opened(100, lambda t, n: 60 <= t < 90 and n % one_in == 0), fault_at)
    assert series.offered is not None
    found = impact_of(series)
    assert found.course.degraded_time == pytest.approx(30 - max(0, fault_at - 60), abs=0.3)
    assert found.losses.lost_operations == pytest.approx(3000 / one_in, rel=0.02)


@pytest.mark.parametrize("rate", [2, 10, 100])
@pytest.mark.parametrize("one_in", [1, 2, 10])
def test_an_open_loop_at_random_times_keeps_its_schedule(rate: float, one_in: int) -> None:
    requests = opened(rate, lambda t, n: 60 <= t < 67 and n % one_in == 0, even=False)
    assert series_at(requests, 60.5).offered is not None


def test_the_last_requests_of_a_tool_that_has_ended_are_no_outage() -> None:
    """They are stamped by their end, as k6 does, and a few took up to 10 s."""
    requests = opened(100, lambda t, n: 60 <= t < 90 and n % 25 == 0)
    late = [Request(t, t, True) for t in (121.5, 123.0, 126.2, 130.0)]
    series = series_at([*requests, *late], 60)
    assert series.offered is not None
    assert impact_of(series).losses.lost_operations == pytest.approx(120)


@pytest.mark.parametrize("one_in", [1, 3])
def test_what_an_open_loop_started_in_a_stall_and_got_answered_later_was_not_served(
    one_in: int,
) -> None:
    waiting = iter(range(100_000))
    requests = opened(
        100,
        lambda t, n: False,
        took_s=lambda t: 70 - t if 60 <= t < 70 and next(waiting) % one_in == 0 else 0.002,
    )
    series = series_at(requests, 60)
    assert series.offered is None
    assert impact_of(series).course.degraded_time == pytest.approx(10, abs=0.5)
