"""An OpenSLO file becomes limits, or says what of it cannot."""

import contextlib
import functools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.wording import mentions, naming

from brownout.base.errors import ConfigurationError
from brownout.judge.openslo import Objectives, parse
from brownout.session.plan_file import plan_of

METRIC = {"metricSource": {"type": "Prometheus", "spec": {"query": "sum(orders_total)"}}}


def slo(name: str = "orders-served", **changes: object) -> str:
    """An SLO of good events of all, with parts of its spec changed; `notes` are annotations."""
    notes = changes.pop("notes", {})
    spec = {
        "description": "orders are served", "service": "orders",
        "indicator": {
            "metadata": {"name": f"{name}-ratio"},
            "spec": {"ratioMetric": {"counter": True, "good": METRIC, "total": METRIC}},
        },
        "timeWindow": [{"duration": "28d", "isRolling": True}],
        "budgetingMethod": "Occurrences",
        "objectives": [{"displayName": "served", "target": 0.999}],
        **changes,
    }  # fmt: skip
    metadata = {"name": name, "annotations": {"team": "checkout", **notes}}  # type: ignore[dict-item]
    return yaml.safe_dump(
        {"apiVersion": "openslo/v1", "kind": "SLO", "metadata": metadata, "spec": spec}
    )


def threshold(measure: str, value: float, **more: object) -> str:
    """An SLO of a metric's threshold that stands for one of our measures."""
    notes = {"brownout/measure": measure, **more.pop("notes", {})}  # type: ignore[dict-item]
    goal = {"op": "lte", "value": value, **more}
    indicator = {"metadata": {"name": "m"}, "spec": {"thresholdMetric": METRIC}}
    return slo(measure.replace("_", "-"), notes=notes, indicator=indicator, objectives=[goal])


def test_a_ratio_of_good_events_is_an_error_budget_of_which_one_fault_may_not_cost_all() -> None:
    assert parse(slo(), "s.yaml") == Objectives({"budget_share": 1.0}, 0.999, 28.0)
    tenth = parse(slo(notes={"brownout/limit": "0.1"}), "s.yaml")
    assert tenth.limits == {"budget_share": 0.1}
    month = slo(timeWindow=[{"duration": "1M", "isRolling": False,
                             "calendar": {"startTime": "2026-01-01 00:00:00", "timeZone": "UTC"}}],
                notes={"brownout/budget-days": "30"})  # fmt: skip
    assert parse(month, "s.yaml").days == 30
    percent = slo(objectives=[{"targetPercent": 99.95}])
    assert parse(percent, "s.yaml").objective == 0.9995


def test_a_ratio_may_be_the_availability_of_the_episode() -> None:
    text = slo(notes={"brownout/measure": "write.availability"})
    assert parse(text, "s.yaml") == Objectives({"write.availability": 0.999})


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        (threshold("recovery_time", 30), {"recovery_time": 30.0}),
        (threshold("write.blackout", 5), {"write.blackout": 5.0}),
        (threshold("latency.during.p99_us", 250, notes={"brownout/unit": "ms"}, target=0.99),
         {"latency.during.p99_us": 250_000.0}),
        (threshold("availability", 0.9, op="gte"), {"availability": 0.9}),
    ],
)  # fmt: skip
def test_a_threshold_limits_the_measure_that_its_annotation_names(
    text: str, limits: dict[str, float]
) -> None:
    assert parse(text, "s.yaml").limits == limits


def test_an_indicator_may_stand_beside_and_one_of_several_slos_may_be_chosen() -> None:
    sli = yaml.safe_dump({
        "apiVersion": "openslo/v1", "kind": "SLI",
        "metadata": {"name": "recovers", "annotations": {"brownout/measure": "recovery_time"}},
        "spec": {"thresholdMetric": METRIC},
    })  # fmt: skip
    data = yaml.safe_load(slo("recovery", objectives=[{"op": "lt", "value": 9}]))
    data["spec"]["indicatorRef"] = "recovers"
    del data["spec"]["indicator"]
    text = "---\n".join([sli, yaml.safe_dump(data), slo("served"), slo("other", timeWindow=["7d"])])
    assert parse(text, "s.yaml", "recovery").limits == {"recovery_time": 9.0}
    assert parse(text, "s.yaml", "other").days == 7
    with pytest.raises(ConfigurationError, match=naming("s.yaml: other", "28 d", "FILE#NAME")):
        parse(text, "s.yaml")
    with pytest.raises(ConfigurationError, match=naming("none-such", "recovery", "served")):
        parse(text, "s.yaml", "none-such")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (slo(budgetingMethod="Timeslices"), ["budgetingMethod", "Timeslices", "Occurrences"]),
        (slo(timeWindow=[{"duration": "1M"}]), ["timeWindow", "1M", "brownout/budget-days"]),
        (slo(objectives=[{"target": 1.5}]), ["objectives[0]", "target"]),
        (slo(objectives=[]), ["objectives"]),
        (slo(objectives=[{"target": 0.9, "indicatorRef": "a"}, {"target": 0.8}]), ["composite"]),
        (slo(notes={"brownout/mesure": "x"}), ["brownout/mesure", "brownout/measure"]),
        (slo(notes={"brownout/measure": "recovery_time"}), ["recovery_time", "availability"]),
        (slo(indicatorRef="elsewhere"), ["indicatorRef", "elsewhere"]),
        (slo(indicator={"spec": {"thresholdMetric": METRIC}},
             objectives=[{"op": "lte", "value": 1}]), ["brownout/measure", "query"]),
        (threshold("recovery_time", 5, op="gte"), ["op", "gte", "lte"]),
        (threshold("recovery_tyme", 5), ["recovery_tyme", "not a measure"]),
        (threshold("recovery_time", 5, target=0.99), ["target", "no percentile"]),
        (threshold("latency.during.p99_us", 5, target=0.95), ["target", "0.95", "0.99"]),
        (threshold("recovery_time", 5, notes={"brownout/unit": "furlong"}),
         ["furlong", "recovery_time"]),
        (slo().replace("openslo/v1", "openslo/v1alpha"), ["apiVersion", "'openslo/v1alpha'"]),
        (slo(objectives=[0.99, 0.999]), ["objectives[0]", "0.99", "objectives[1]", "mapping"]),
        (slo(objectives=[{"target": 0.9, "targetPercent": 95}]), ["target", "targetPercent"]),
        (slo(indicator={"spec": {}}), ["indicator", "ratioMetric"]),
        (slo(indicator={"metadata": ["x"], "spec": {"ratioMetric": {}}}),
         ["indicator.metadata", "['x']", "mapping"]),
        (slo(indicator={"spec": {"ratioMetric": {}, "thresholdMetric": {}}}), ["both"]),
        (slo(notes={"brownout/limit": float("nan")}), ["brownout/limit", "nan"]),
        (slo(notes={"brownout/limit": "1_0"}), ["brownout/limit", "1_0"]),
        (slo(notes={"brownout/limit": {"share": 1}}), ["brownout/limit", "text or a number"]),
        (slo(notes={"brownout/budget-days": ".inf"}), ["brownout/budget-days"]),
        (threshold("recovery_time", float("inf")), ["value", "inf"]),
        (threshold("recovery_time", 10**400), ["value"]),
        (slo().replace("name: orders-served\n", "name: [a]\n", 1), ["document 1", "name"]),
        ("---\n".join([slo(), slo()]), ["SLO `orders-served` is defined twice"]),
        ("a: 2024-99-99", ["s.yaml", "YAML"]),
        ("kind: SLO", ["document 1", "metadata"]),
        ("a: [1", ["s.yaml", "YAML"]),
        ("", ["s.yaml", "SLO"]),
    ],
)  # fmt: skip
def test_what_cannot_be_mapped_is_refused_with_where_it_stands(text: str, names: list[str]) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(text, "s.yaml")
    assert mentions(str(error.value), "s.yaml", *names), error.value


#: What may stand where something else should.
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 0.5, float("nan"), float("inf"), 10**400, "", "x", "nan", "1_0",
    [], [0.5], {}, {1: 2}, {"a": None},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place within a document."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


@pytest.mark.parametrize(
    "text",
    [
        slo(notes={"brownout/limit": "0.1", "brownout/budget-days": "30"}),
        threshold("latency.during.p99_us", 250, notes={"brownout/unit": "ms"}, target=0.99),
    ],
    ids=["ratio", "threshold"],
)
def test_an_odd_value_anywhere_is_an_error_of_ours_or_changes_no_limit_to_nonsense(
    text: str,
) -> None:
    for place in places(yaml.safe_load(text)):
        for odd in ODD:
            document = yaml.safe_load(text)
            parent = functools.reduce(lambda here, key: here[key], place[:-1], document)
            parent[place[-1]] = odd
            with contextlib.suppress(ConfigurationError):
                objectives = parse(yaml.safe_dump(document), "s.yaml")
                numbers = [*objectives.limits.values(), objectives.days or 1.0]
                assert all(map(math.isfinite, numbers)), (place, odd, objectives)


def test_a_run_takes_its_limits_and_its_error_budget_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "slo.yaml"
    path.write_text("---\n".join([slo(), threshold("recovery_time", 4.5)]))
    plan, _ = plan_of("node-kill", ["cluster=lab-etcd", f"slo={path}"])
    limits = {limit.measure: (limit.limit, limit.limit_from) for limit in plan.limits}
    assert limits["recovery_time"] == (4.5, "OpenSLO")
    assert limits["budget_share"] == (1.0, "OpenSLO")
    assert (plan.settings.budget_objective, plan.settings.budget_days) == (0.999, 28.0)
    given, _ = plan_of("node-kill", ["cluster=lab-etcd", f"slo={path}", "limits=recovery_time=3"])
    assert next(x for x in given.limits if x.measure == "recovery_time").limit == 3.0
    with pytest.raises(ConfigurationError, match=naming("budget_days", 7, 28)):
        plan_of("node-kill", ["cluster=lab-etcd", f"slo={path}", "budget_days=7"])
    with pytest.raises(ConfigurationError, match=naming("none.yaml")):
        plan_of("node-kill", ["cluster=lab-etcd", "slo=none.yaml"])
