"""Limits: what a file may say, every error at once, and who overrides whom."""

import math
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brownout.base.errors import ConfigurationError
from brownout.judge import slo
from brownout.judge.slo import Limit, file_limits, names, parse, resolve
from brownout.measure.impact import worst_of
from brownout.measure.measures import find

SOURCE = "mine.yaml"


def one(**more: Any) -> str:
    item = {"measure": "recovery_time", "limit": 10, "why": "because"} | more
    return yaml.safe_dump([{name: value for name, value in item.items() if value is not None}])


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as error:
        parse(text, SOURCE)
    assert all(problem.startswith(SOURCE) for problem in error.value.problems)
    return error.value.problems


def both(**given_limits: Any) -> tuple[list[Limit], list[Limit]]:
    return resolve(scenario="node-kill", database="mongodb", streams=["orders-eu"], **given_limits)


def resolved(**given_limits: Any) -> dict[tuple[str, str], Limit]:
    found, _ = both(**given_limits)
    return {(limit.scope, limit.measure): limit for limit in found}


@pytest.mark.parametrize("name", names())
def test_every_shipped_limit_is_valid_and_has_its_reason(name: str) -> None:
    scenario, database = name.split(".")
    limits = file_limits(scenario, database)
    assert {limit.measure for limit in limits} >= {"blackout", "recovery_time", "lost_writes"}
    for limit in limits:
        assert limit.limit_from == f"steady-state/slo/{name}.yaml"
        assert len(limit.why) > 20


def test_the_four_scenarios_of_mongodb_have_limits() -> None:
    wanted = {"node-kill", "node-pause", "node-wipe", "stepdown"}
    assert {f"{scenario}.mongodb" for scenario in wanted} <= set(names())


def test_a_limit_is_read_with_its_scope_unit_and_source() -> None:
    assert parse(one(scope="write", limit=500, unit="ms"), SOURCE) == [
        Limit("recovery_time", 0.5, "write", SOURCE, "because")
    ]


@pytest.mark.parametrize(
    ("measure", "limit", "unit", "value"),
    [
        ("availability", 99.5, "%", 0.995),
        ("availability", 0.995, "ratio", 0.995),
        ("recovery_time", 2, "min", 120.0),
        ("latency.during.p99_us", 20, "ms", 20_000.0),
        ("latency_all.after.max_us", 1, "s", 1_000_000.0),
        ("time_above.p99_10ms", 3, "s", 3.0),
        ("errors", 5, "operations", 5.0),
        ("lost_writes", 0, "writes", 0.0),
        ("rejoin_time_after_start", 30, None, 30.0),
    ],
)
def test_limits_are_kept_in_the_unit_of_their_measure(
    measure: str, limit: float, unit: str | None, value: float
) -> None:
    (found,) = parse(one(measure=measure, limit=limit, unit=unit), SOURCE)
    assert found.limit == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (one(limit=-1), "found -1 for recovery_time, wanted 0 or more"),
        (one(limit=math.nan), "found nan for recovery_time, wanted a number"),
        (one(limit=math.inf), "wanted a number"),
        (one(limit="soon"), "found 'soon'"),
        (one(limit=True), "found True"),
        (one(limit=None), ".limit: missing"),
        (one(measure=None), ".measure: missing"),
        (one(why=None), ".why: missing"),
        (one(why="  "), ".why: missing"),
        (one(measure="availability", limit=1.01), "wanted a ratio of 0 to 1"),
        (one(measure="availability", limit=101, unit="%"), "wanted a ratio of 0 to 1"),
        (one(measure="availability", limit=0), "which every run meets"),
        (one(measure="tps_drop", limit=100, unit="%"), "which every run meets"),
        (one(measure="recovery"), "'recovery' is unknown; wanted one of tps_drop"),
        (one(measure="latency.while.p99_us"), "is unknown"),
        (one(measure="time_above.p99_fast"), "is unknown"),
        (one(measure="dip_method"), "is unknown"),
        (one(measure=7), "is unknown"),
        (one(unit="%"), "found '%' for recovery_time, wanted one of s, ms, min"),
        (one(scope=["write"]), ".scope: found ['write']"),
        (one(measure="lost_writes", scope="write"), "lost_writes is of the whole cluster"),
        (one(limits=3), ".limits: unknown setting; wanted one of measure"),
        ("- 7\n", "found int, wanted a mapping"),
        ("recovery_time: 10\n", "found dict, wanted a list"),
        ("", "found nothing"),
        ("- [", "is not YAML"),
        (one() + one(limit=3), "recovery_time of total: is limited twice"),
    ],
)  # fmt: skip
def test_a_limit_that_makes_no_sense_is_refused(text: str, wanted: str) -> None:
    assert any(wanted in problem for problem in problems_of(text))


def test_every_problem_of_a_file_is_named_at_once() -> None:
    text = one(limit=-1, why=None) + one(measure="nope") + "- x\n"
    assert len(problems_of(text)) == 4


def test_the_nearest_source_wins_and_says_so() -> None:
    name = "BROWNOUT_LIMIT_RECOVERY_TIME"
    at, file = ("total", "recovery_time"), "steady-state/slo/node-kill.mongodb.yaml"
    sources: list[tuple[dict[str, Any], str]] = [
        ({}, file),
        ({"experiment": {"recovery_time": 9}}, "experiment"),
        ({"environment": {name: "8"}}, f"environment {name}"),
        ({"variables": {"recovery_time": 7.0}}, "--var limits"),
    ]
    given_limits: dict[str, Any] = {}
    for more, source in sources:
        given_limits |= more
        assert resolved(**given_limits)[at].limit_from == source
    assert resolved(**given_limits)[at].limit == 7.0
    assert resolved(**given_limits)[at].why == resolved()[at].why


def test_a_limit_may_be_added_for_any_scope() -> None:
    found = resolved(
        experiment={"write.blackout": 3, "orders-eu.availability": 0.9},
        environment={
            "BROWNOUT_LIMIT_READ_LATENCY_DURING_P99_US": "20000",
            "BROWNOUT_LIMIT_ORDERS_EU_ERRORS": "5",
            "BROWNOUT_LIMIT_TIME_ABOVE_P99_10MS": "4",
        },
        variables={"orders-eu.latency_all.after.p999_us": 9},
    )
    assert found["write", "blackout"].limit == 3
    assert found["orders-eu", "availability"].limit == 0.9
    assert found["read", "latency.during.p99_us"].limit == 20_000
    assert found["orders-eu", "errors"].limit == 5
    assert found["total", "time_above.p99_10ms"].limit == 4
    assert found["orders-eu", "latency_all.after.p999_us"].limit == 9
    assert found["total", "blackout"] == resolved()["total", "blackout"]


def test_every_problem_of_every_source_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as error:
        resolved(
            experiment={"orders.blackout": 3, "recovery_time": -1},
            environment={"BROWNOUT_LIMIT_RECOVERY": "8", "BROWNOUT_LIMIT_BLACKOUT": "soon"},
            variables={"availability": 3, "write.lost_writes": 0},
        )
    assert len(error.value.problems) == 6
    text = str(error.value)
    for word in ("experiment", "BROWNOUT_LIMIT_RECOVERY:", "--var limits", "'orders' is unknown"):
        assert word in text


def test_a_scenario_without_a_file_has_only_what_was_given() -> None:
    found = resolve(scenario="mine", database="cassandra", streams=[], experiment={"errors": 0})
    assert found == ([Limit("errors", 0.0, "total", "experiment")], [])


@pytest.mark.parametrize(
    ("source", "given_limits"),
    [
        ("experiment", {"experiment": {"recovery_time": "none"}}),
        (
            "environment BROWNOUT_LIMIT_RECOVERY_TIME",
            {"environment": {"BROWNOUT_LIMIT_RECOVERY_TIME": "None"}},
        ),
        ("--var limits", {"variables": {"total.recovery_time": "none"}}),
    ],
)
def test_every_source_may_drop_a_limit_and_is_named(
    source: str, given_limits: dict[str, Any]
) -> None:
    before = resolved()
    left, dropped = both(**given_limits)
    assert [limit.measure for limit in left] == [
        measure for _, measure in before if measure != "recovery_time"
    ]
    assert dropped == [replace(before["total", "recovery_time"], limit_from=source)]


@pytest.mark.parametrize("text", ["1_0", "٣", "nan", "inf", "0x10", "1,5", "", "true"])
def test_a_text_is_a_limit_only_if_it_is_a_plain_number(text: str) -> None:
    for given_limits in (
        {"experiment": {"recovery_time": text}},
        {"environment": {"BROWNOUT_LIMIT_RECOVERY_TIME": text}},
        {"variables": {"recovery_time": text}},
    ):
        with pytest.raises(ConfigurationError, match=r"limit: found .* for recovery_time"):
            both(**given_limits)


def test_a_dropped_limit_may_be_set_again_by_whoever_is_nearer() -> None:
    left, dropped = both(
        experiment={"recovery_time": "none", "errors": 3},
        environment={"BROWNOUT_LIMIT_ERRORS": "none"},
        variables={"recovery_time": 4},
    )
    assert {limit.measure: limit.limit for limit in left}["recovery_time"] == 4
    assert dropped == [Limit("errors", 3.0, "total", "environment BROWNOUT_LIMIT_ERRORS")]


def test_what_is_dropped_has_to_be_a_measure_of_a_scope_but_need_not_have_a_limit() -> None:
    with pytest.raises(ConfigurationError) as error:
        both(variables={"recovery": "none", "orders.errors": "none"})
    assert [problem.partition(": ")[2][:8] for problem in error.value.problems] == [
        "recovery",
        "orders.e",
    ]
    assert both(variables={"errors": "none"}) == both()


def test_the_worst_of_several_is_on_the_bad_side() -> None:
    assert worst_of("recovery_time", [3.0, 9.0, 5.0]) == 9.0
    assert worst_of("availability", [0.9, 0.99]) == 0.9
    assert worst_of("time_to_impact", [1.0, 2.0]) == 2.0


@given(st.text(max_size=40))
def test_any_text_is_limits_or_a_configuration_error(text: str) -> None:
    try:
        found = parse(text, SOURCE)
    except ConfigurationError:
        return
    assert all(find(limit.measure) for limit in found)


def test_the_exports_are_sorted() -> None:
    assert slo.__all__ == sorted(slo.__all__)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"unit": []}, "unit: found []"),
        ({"limit": 10**400}, "limit: found 1000"),
        ({"limit": 1e308, "unit": "min"}, "wanted a number"),
    ],
)
def test_what_cannot_be_compared_is_no_limit(item: dict[str, Any], words: str) -> None:
    (problem,) = problems_of(one(**item))
    assert words in problem
