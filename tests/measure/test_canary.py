"""What a canary saw, as figures: counted by hand, and never a figure where nothing was seen."""

from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.measure.canary import (
    FIGURES,
    Canary,
    Figures,
    Percentiles,
    canary_answer,
    canary_of,
    figures,
)
from brownout.run.canary import UNFINISHED, Call, CanaryRecord

BEFORE, DURING = (0.0, 10.0), (10.0, 20.0)


def steady(start: float, end: float, took_s: float = 0.002) -> list[Call]:
    """A read and a write each 0.1 s, all of which succeed."""
    moments = [start + number / 10 for number in range(round((end - start) * 10))]
    return [Call(t, op, took_s) for t in moments for op in ("read", "write")]


def seen(calls: list[Call], end: float = 20.0) -> Figures:
    return figures(calls, (0.0, end), BEFORE, DURING)


def test_calls_that_all_succeed_have_no_failure_and_no_time_without_a_success() -> None:
    found = seen(steady(0, 20))
    assert (found.operations, found.ok, found.failed, found.unfinished) == (
        400,
        400,
        0,
        0,
    )
    assert found.errors == {}
    assert found.first_failure_t is found.last_failure_t is None
    assert found.longest_without_success_s == pytest.approx(0.1)
    assert found.before == Percentiles(200, 2000.0, 2000.0)


def test_an_outage_that_retries_hide_is_a_slow_call_and_a_time_without_a_success() -> None:
    waiting = [Call(10 + n / 10, "write", 3.0 - n / 10) for n in range(30)]  # all end at 13.0
    found = seen([*steady(0, 10), *waiting, *steady(13, 20)])
    assert found.failed == 0
    assert found.slowest_s == 3.0
    assert found.longest_without_success_s == pytest.approx(13.0 - 9.902)
    assert found.during.p99_us == pytest.approx(2.9e6)  # the 169th of 170


def test_failures_are_counted_by_the_clients_own_names_the_commonest_first() -> None:
    failures = [Call(10.0, "read", 1.0, cause="TimeoutError", code="9")] * 3
    failures += [Call(12.5, "write", 0.1, cause="AutoReconnect")]
    found = seen([*steady(0, 10), *failures, *steady(13, 20)])
    assert list(found.errors.items()) == [("TimeoutError 9", 3), ("AutoReconnect", 1)]
    assert (found.first_failure_t, found.last_failure_t) == (10.0, 12.5)


def test_calls_without_an_end_are_no_failures_of_the_client_and_no_success() -> None:
    hung = [Call(15.0 + n / 10, "write", 5.0, cause=UNFINISHED) for n in range(4)]
    found = seen([*steady(0, 15), *hung])
    assert (found.failed, found.unfinished, found.errors) == (0, 4, {})
    assert found.longest_without_success_s == pytest.approx(20.0 - 14.902)


def test_without_a_single_call_nothing_is_known() -> None:
    found = seen([])
    assert found.longest_without_success_s is found.slowest_s is None
    assert found.during == Percentiles()


def test_of_a_client_that_never_succeeded_the_whole_time_counts() -> None:
    found = seen([Call(1.0, "read", 0.5, cause="ConnectionError", code="-10")])
    assert found.longest_without_success_s == 20.0


SEEN = Canary("measured", total=seen(steady(0, 20)))


def test_a_probe_answers_a_figure_once_the_run_is_measured() -> None:
    assert canary_answer(None, False, False, "failed", "total")["status"] == "not_applicable"
    answer = canary_answer(SEEN, True, True, "before.p99_us", "total")
    assert (answer["status"], answer["value"], answer["unit"]) == ("measured", 2000.0, "us")


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_that_a_probe_may_ask_for_is_there(figure: str) -> None:
    assert canary_answer(SEEN, True, True, figure, "total")["status"] in ("measured", "no_data")


def test_a_canary_that_died_or_was_not_there_is_no_data_and_says_why() -> None:
    died = Canary("not measured", "its process died")
    answer = canary_answer(died, True, True, "failed", "total")
    assert (answer["status"], answer["value"], answer["missing"]) == (
        "no_data", None, "its process died",
    )  # fmt: skip
    assert canary_answer(None, True, True, "failed", "total")["missing"] == "this run has no canary"


def test_a_misspelt_figure_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(
        ConfigurationError, match=r"figure: found 'fails', wanted one of operations"
    ):
        canary_answer(None, False, False, "fails", "total")


def record(**about: Any) -> CanaryRecord:
    told = {"client": "pymongo", "version": "4.20.0", "rate": 10.0, "threads": 32, "policies": {}}
    whole = {"began_t": 0.5, "ended_t": 20.0, "ended": True}
    return CanaryRecord({**told, **whole, **about}, tuple(steady(1, 20)))


def measured(fault_at: float | None, **about: Any) -> Canary:
    faults = [] if fault_at is None else [(fault_at, 15.0)]
    return canary_of(record(**about), (0.0, 9.0), faults)


def test_a_canary_that_came_to_its_end_is_measured_before_and_during_the_fault() -> None:
    found = measured(fault_at=10.0)
    assert (found.state, found.client) == ("measured", "pymongo")
    assert found.scopes["read"].before.n == 80
    assert found.scopes["write"].during.n == 50


def test_without_a_fault_there_is_nothing_during_it() -> None:
    assert measured(fault_at=None).scopes["total"].during.n == 0


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"ended": False, "detail": "its process died"}, "its process died"),
        ({"ended": None}, "it did not come to its end; the run died before it"),
        ({"began_t": 11.0}, "it began at 11.0 s, after the fault at 10.0 s"),
    ],
)
def test_one_that_did_not_see_the_whole_fault_has_no_figures(
    about: dict[str, Any], why: str
) -> None:
    found = measured(fault_at=10.0, **about)
    assert (found.state, found.detail) == ("not measured", why)
    assert found.scopes == {}
