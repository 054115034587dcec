"""Requests as a series: whether a tool kept its schedule is seen in what it started."""

import random
from collections.abc import Callable
from dataclasses import replace

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


@pytest.mark.parametrize("slower", [1.5, 2.0])
def test_a_closed_loop_of_few_requests_that_slows_down_has_no_outage(slower: float) -> None:
    """About 59 requests a second: single buckets of 0.1 s are empty by chance."""
    series = series_at(closed(10, lambda t: 0.17 * (slower if 60 <= t < 70 else 1)), 60)
    found = impact_of(series)
    assert found.course.blackout == 0
    assert found.course.degraded_time == pytest.approx(10, abs=0.6)


@pytest.mark.parametrize(("workers", "took_s"), [(10, 0.17), (10, 0.5), (100, 1.0)])
def test_workers_that_answer_together_after_an_outage_have_only_that_one(
    workers: int, took_s: float
) -> None:
    """Each waited for the end of the outage, so that they are in step from then on."""

    def latency(t: float) -> float:
        return max(took_s, 64 + took_s - t) if 60 - took_s <= t < 64 else took_s

    found = impact_of(series_at(closed(workers, latency), 60))
    assert found.course.blackout == pytest.approx(4 + took_s, abs=0.3 + 0.06 * (4 + took_s))


@pytest.mark.parametrize("cut_at", [120, 119.03])
def test_the_end_of_a_log_is_no_dip(cut_at: float) -> None:
    """What was under way then comes in while no more is started."""

    def latency(t: float) -> float:
        if 60 <= t < 63:
            return 63.1 - t
        return 0.3 if round(t * 200) % 2 else 0.002

    stalled = [
        each for each in opened(200, lambda t, n: False, took_s=latency) if each.start < cut_at
    ]
    found = impact_of(series_at(stalled, 60))
    assert found.course.settled_time == pytest.approx(3.2, abs=0.2)


def test_the_throughput_of_an_open_loop_does_not_drop_at_the_end_of_its_log() -> None:
    found = impact_of(series_at(opened(200, lambda t, n: False, took_s=lambda t: 0.3), 60))
    assert found.drops.tps_drop == pytest.approx(0, abs=0.01)


def test_a_closed_loop_that_waits_to_the_end_of_its_log_is_out_until_then() -> None:
    """Of what was under way when the fault began, nothing came back before the tool ended."""
    requests = [
        each if each.end < 60 else Request(each.start, 120, False)
        for each in closed(10, lambda t: 0.17)
        if each.start < 60
    ]
    series = series_at(requests, 60)
    assert series.offered is None
    found = impact_of(series)
    assert found.course.blackout == pytest.approx(60, abs=0.2)
    assert found.course.recovery_time is None


def test_a_closed_loop_to_which_failures_come_back_fast_loses_no_more_than_it_served() -> None:
    requests = [
        replace(each, ok=not 60 <= each.start < 65)
        for each in closed(10, lambda t: 0.002 if 60 <= t < 65 else 0.17)
    ]
    series = series_at(requests, 60)
    assert series.offered is None
    assert impact_of(series).losses.lost_operations == pytest.approx(5 * 10 / 0.17, rel=0.05)


def test_an_open_loop_whose_rate_rises_is_judged_by_its_failures() -> None:
    """It starts more than before the fault as well where it serves as well."""
    requests = opened(300, lambda t, n: 60 <= t < 70 and n % 10 != 0)
    rising = [each for n, each in enumerate(requests) if n % 3 < each.start // 40 + 1]
    assert series_at(rising, 60).offered is not None
