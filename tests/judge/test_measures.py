"""What a probe of the hypothesis is answered, and whether that is within what was promised."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from chaoslib.hypothesis import ensure_hypothesis_tolerance_is_valid, within_tolerance
from tests.impacts import made

from brownout.judge.measures import answer
from brownout.judge.slo import place_problems
from brownout.measure.impact import Impact

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
    assert "'recovry_time' is unknown; wanted one of" in unknown
    (scope,) = place_problems("recovery_time", "wirte", ["orders"])
    assert "scope 'wirte' is unknown; wanted one of total, read, write, orders" in scope
    (whole,) = place_problems("rejoin_time", "write", [])
    assert "is of the whole cluster" in whole
