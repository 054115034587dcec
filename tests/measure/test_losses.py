"""What was not served, in open and in closed loop."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_series, make_signal
from tests.measure.views import data_of
from tests.measure.views import view as view_of

from brownout.measure.data import ErrorRow, RunData, Stream
from brownout.measure.dips import find_dips
from brownout.measure.level import Level
from brownout.measure.losses import (
    availability,
    budget_share,
    failed_operations,
    in_doubt_operations,
    losses_of,
    lost_operations,
    own_pool_operations,
    own_pool_time,
    worst_second,
)
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Case, Signal, signal_of
from brownout.measure.view import View

SETTINGS = MeasureSettings.lab()


def view(signal: Signal, level: Level, start: float = 0.0, end: float = 10.0) -> View:
    dips = tuple(find_dips(signal, level, SETTINGS))
    return View(signal, level, SETTINGS, start, start, end, end, dips, dips)


def run(retries: str = "none", errors: tuple[ErrorRow, ...] = ()) -> RunData:
    ok = [80] * 20 + [0] * 30 + [80] * 50
    streams = [Stream("app", retries=retries)]
    return RunData(make_series([80] * 100, ok), (), streams, SETTINGS, 10.0, errors=errors)


def test_in_open_loop_the_loss_is_what_was_offered_less_what_was_ok() -> None:
    signal = make_signal([80] * 100, [80] * 100, served=[80] * 20 + [8] * 30 + [80] * 50)
    assert lost_operations(view(signal, flat_level(800.0))) == 72 * 30


def test_in_closed_loop_the_loss_is_what_the_dips_lack() -> None:
    ok = [80] * 20 + [0] * 30 + [80] * 50
    assert lost_operations(view(make_signal(ok), flat_level(800.0))) == pytest.approx(2400)
    assert lost_operations(view(make_signal(ok), flat_level(0.0))) is None


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=10, max_size=60))
def test_losses_and_availability_agree(rows: list[tuple[int, int]]) -> None:
    offered = [max(row) for row in rows]
    served = [min(row) for row in rows]
    signal = make_signal(served, offered, served=served, born=offered)
    seconds = len(rows) / 10
    lost = lost_operations(view(signal, flat_level(), 0.0, seconds))
    ratio = availability(signal, 0.0, seconds)
    if sum(offered):
        assert lost == sum(offered) - sum(served)
        assert ratio == pytest.approx(1 - lost / sum(offered))
    else:
        assert ratio is None


@given(st.lists(st.integers(0, 50), min_size=10, max_size=60), st.randoms())
def test_the_worst_second_is_never_better_than_the_whole(ok: list[int], random: object) -> None:
    offered = [50] * len(ok)
    signal = make_signal(ok, offered, served=ok, born=offered)
    worst = worst_second(signal, 0.0, len(ok) / 10)
    assert worst is not None
    assert min(ok) / 50 - 1e-9 <= worst
    if len(ok) % 10 == 0:
        assert worst <= sum(ok) / sum(offered) + 1e-9


def test_a_window_shorter_than_a_second_has_no_worst_one() -> None:
    assert worst_second(make_signal([5] * 9, [5] * 9), 0.0, 0.9) is None


def test_errors_are_summed_by_cause_and_none_is_dropped() -> None:
    errors = (
        ErrorRow(2.0, "app", "update", "no-node", 1500),
        ErrorRow(3.0, "app", "update", "client-timeout-total", 800),
        ErrorRow(9.0, "app", "update", "other", 7),  # after the episode
        ErrorRow(2.0, "app", "read", "other", 9),  # another scope
    )
    data = run(errors=errors)
    signal = make_signal([80] * 20 + [0] * 30 + [80] * 50, [80] * 100)
    found = losses_of(view(signal, flat_level(800.0), 1.0, 8.0), data)
    assert found.errors == {
        "no-node": 1500,
        "client-timeout-total": 800,
        "other": 9,
        "unattributed": 91,
    }


@pytest.mark.parametrize(
    ("case", "failed", "in_doubt"),
    [("measured", 70, 30), ("best", 50, 10), ("worst", 100, 60)],
)
def test_failures_and_doubts_are_counted_apart(case: Case, failed: int, in_doubt: int) -> None:
    """30 operations were missed, and 20 ended badly when the generator went on."""
    nothing = [0] * 100
    failures, doubts = nothing.copy(), nothing.copy()
    failures[30:40], failures[51], doubts[45:48] = [5] * 10, 20, [10] * 3
    missed = nothing.copy()
    missed[50] = 30
    series = make_series([80] * 100, [80] * 100, failed=failures, in_doubt=doubts, missed=missed)
    data = RunData(series, (), [Stream("app")], SETTINGS, 10.0)
    seen = view(signal_of(series, "total", case), flat_level(800.0), 1.0, 8.0)
    assert failed_operations(seen, data) == failed
    assert in_doubt_operations(seen, data) == in_doubt


@pytest.mark.parametrize(
    ("retries", "left"), [("none", None), ("once", 2400), ("driver-default", None)]
)
def test_errors_after_retry_are_known_where_a_stream_retries_once(
    retries: str, left: int | None
) -> None:
    signal = make_signal([80] * 100, [80] * 100)
    found = losses_of(view(signal, flat_level(800.0)), run(retries))
    assert found.errors_after_retry == left


def test_a_closed_loop_has_no_success_ratio() -> None:
    found = losses_of(view(make_signal([80] * 100), flat_level(800.0)), run())
    assert (found.availability, found.availability_run, found.worst_second) == (None, None, None)
    assert found.lost_method == "baseline less ok, over the dips"


LAB = MeasureSettings.lab()
OK = [80] * 300 + [0] * 10 + [80] * 90  # 800 operations lost, at 800/s


@pytest.mark.parametrize(
    ("objective", "days", "share"),
    [
        (0.9995, 30, 800 / (0.0005 * 800 * 30 * 86_400)),
        (0.99, 1, 800 / (0.01 * 800 * 86_400)),
        (0.99, 7, 800 / (0.01 * 800 * 7 * 86_400)),
    ],
)
def test_the_budget_is_what_the_objective_allows_at_this_rate(
    objective: float, days: float, share: float
) -> None:
    settings = replace(LAB, budget_objective=objective, budget_days=days)
    data = data_of(make_series([80] * 400, OK), settings)
    assert budget_share(view_of(data, 30.0, 40.0), data) == pytest.approx(share)


def test_without_a_loss_nothing_of_it_is_used() -> None:
    data = data_of(make_series([80] * 400, [80] * 400), LAB)
    assert budget_share(view_of(data, 30.0, 40.0), data) == 0.0


def test_without_a_load_in_the_baseline_it_is_not_measured() -> None:
    idle = [0] * 300 + [80] * 100
    data = data_of(make_series(idle, idle), LAB)
    assert budget_share(view_of(data, 30.0, 40.0), data) is None


STEADY = [80] * 600
ROWS = [
    ErrorRow(10.0, "app", "read", "no-slot", 9),  # before the fault
    ErrorRow(31.0, "app", "read", "no-slot", 3),
    ErrorRow(31.0, "app", "read", "pool-exhausted", 2),
    ErrorRow(31.1, "app", "read", "not-primary", 7),
    ErrorRow(31.4, "app", "read", "pool-exhausted", 1),
]


@pytest.mark.parametrize(
    ("rows", "operations", "seconds"), [(ROWS, 6, 0.2), (ROWS[3:4], 0, 0.0), ([], 0, 0.0)]
)
def test_only_the_causes_of_our_own_pool_count_and_only_of_the_fault(
    rows: list[ErrorRow], operations: int, seconds: float
) -> None:
    data = replace(data_of(make_series(STEADY, STEADY), MeasureSettings.lab()), errors=rows)
    seen = view_of(data, 30.0, 50.0)
    assert own_pool_operations(seen, data) == operations
    assert own_pool_time(seen, data) == pytest.approx(seconds)
