"""What a probe of the hypothesis is answered, and whether that is within what was promised."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from chaoslib.hypothesis import ensure_hypothesis_tolerance_is_valid, within_tolerance
from tests.impacts import made
from tests.wording import mentions

from brownout.judge.measures import answer, limits_answer
from brownout.judge.slo import Limit, place_problems
from brownout.measure.impact import Impact
from brownout.show.report.words import answer_words

LIMIT = {"name": "recovery_time", "scope": "total", "limit": 10, "limit_from": "a file"}


def impact(found: float | None, **limit: Any) -> Impact:
    """An impact with one fault, and with a limit on its recovery where one is given."""
    fault: dict[str, Any] = {"recovery_time": found, "scopes": {}}
    slos = [{**LIMIT, "value": found, **limit}] if limit else []
    return made({"faults": [fault], "slos": slos})


#: What shipped experiments say of every measure.
SHIPPED = {"type": "jsonpath", "path": "$.met", "expect": True}


@pytest.fixture
def accepts() -> Callable[[dict[str, Any]], bool]:
    """Say whether Chaos Toolkit accepts a probe's answer."""
    ensure_hypothesis_tolerance_is_valid(SHIPPED)
    return lambda answered: within_tolerance(json.loads(json.dumps(SHIPPED)), answered, {}, {})


@pytest.mark.parametrize(
    ("judged", "within"),
    [
        (impact(3.0, met=True), True),
        (impact(30.0, met=False), False),
        (impact(None, met=None), False),  # a limit that is open is no pass
        (impact(9.9, met=None), False),  # so is one below the noise
        (impact(3.0), True),
        (impact(None), True),  # nothing was promised of what was not seen
        (None, False),
    ],
    ids=["met", "broken", "open", "noise", "no limit", "no limit and not seen", "no run"],
)
def test_a_probe_is_within_its_limit_unless_the_limit_is_broken_or_open(
    judged: Impact | None, within: bool, accepts: Callable[[dict[str, Any]], bool]
) -> None:
    assert accepts(answer(judged, True, "recovery_time", "total")) is within


def test_before_a_run_is_judged_no_limit_applies(
    accepts: Callable[[dict[str, Any]], bool],
) -> None:
    found = answer(None, False, "recovery_time", "total")
    assert (found["status"], found["value"]) == ("not_applicable", None)
    assert accepts(found)


def test_an_answer_has_the_value_with_its_unit_the_limit_and_whether_it_is_met() -> None:
    found = answer(impact(2.1, met=True), True, "recovery_time", "total")
    assert found.items() >= {"value": 2.1, "unit": "s", "limit": 10, "met": True}.items()
    assert answer(None, True, "latency.during.p99_us", "total")["unit"] == "us"


def test_a_measure_or_a_scope_that_there_is_not_is_named() -> None:
    assert place_problems("recovery_time", "orders", ["orders"]) == []
    (unknown,) = place_problems("recovry_time", "total", [])
    assert mentions(unknown, "'recovry_time'", "recovery_time")
    (scope,) = place_problems("recovery_time", "wirte", ["orders"])
    assert mentions(scope, "'wirte'", "total, read, write, orders")
    (whole,) = place_problems("rejoin_time", "write", [])
    assert mentions(whole, "rejoin_time", "'write'", "total")


OUTAGE = {"name": "blackout", "scope": "write", "limit": 2, "limit_from": "a file", "value": 1.0}


def limited(recovery_met: bool | None, outage_met: bool | None) -> Impact:
    """An impact with one fault and two limits."""
    fault: dict[str, Any] = {
        "recovery_time": 3.0, "scopes": {"write": {"blackout": 1.0}}
    }  # fmt: skip
    slos = [{**LIMIT, "value": 3.0, "met": recovery_met}, {**OUTAGE, "met": outage_met}]
    return made({"faults": [fault], "slos": slos})


@pytest.mark.parametrize(
    ("judged", "met"),
    [
        (limited(True, True), True),
        (limited(True, False), False),
        (limited(None, False), False),
        (limited(True, None), None),
        (impact(3.0), None),  # without limits nothing was promised, which is no pass
        (None, None),
    ],
    ids=["met", "one broken", "broken and open", "one open", "no limit", "no run"],
)
def test_all_limits_are_met_unless_one_is_broken_or_open_or_there_is_none(
    judged: Impact | None, met: bool | None, accepts: Callable[[dict[str, Any]], bool]
) -> None:
    together = limits_answer(judged, True, [Limit("recovery_time", 10.0)])
    assert together["met"] is met
    assert accepts(together) is (met is True)


def test_the_answer_about_all_limits_has_the_answer_about_each() -> None:
    judged = limited(True, False)
    together = limits_answer(judged, True, [])
    places = [("recovery_time", "total"), ("blackout", "write")]
    assert together["limits"] == [answer(judged, True, *place) for place in places]
    assert [each["met"] for each in together["limits"]] == [True, False]
    assert [answer_words(each) for each in together["limits"]] == [
        "recovery_time ≤ 10 s: 3 s, met",
        "blackout (write) ≤ 2 s: 1 s, not met",
    ]


def test_before_a_run_is_judged_all_limits_are_named_and_none_applies(
    accepts: Callable[[dict[str, Any]], bool],
) -> None:
    together = limits_answer(None, False, [Limit("recovery_time", 10.0)])
    assert together["status"] == "not_applicable"
    assert together["limits"] == [answer(None, False, "recovery_time", "total")]
    assert accepts(together)
