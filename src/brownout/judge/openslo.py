"""Limits from an OpenSLO file (`apiVersion: openslo/v1`, documents of kind SLO and SLI).

    ratioMetric, budgetingMethod Occurrences   ──▶ the error budget, and `budget_share` at most 1:
                                                   no single fault may spend the whole budget
    ratioMetric + `brownout/measure: availability`  ──▶ availability at least the target
    thresholdMetric + `brownout/measure: NAME`      ──▶ that measure, at most or at least the value

What cannot be said in these terms is refused with its reason; nothing is guessed. docs/gates.md has
the annotations.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.base.numbers import plain_number
from brownout.base.settings_file import parse_documents, read_text
from brownout.measure.measures import AT_LEAST, Measure, find, split

__all__ = ["Objectives", "parse", "read"]

_API = "openslo/v1"
_MEASURE, _LIMIT, _UNIT, _DAYS = (
    f"brownout/{name}" for name in ("measure", "limit", "unit", "budget-days")
)
_ANNOTATIONS = (_MEASURE, _LIMIT, _UNIT, _DAYS)
_IN_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
_BUDGET = "budget_share"
_OPERATORS = {"lte": "at_most", "lt": "at_most", "gte": AT_LEAST, "gt": AT_LEAST}


@dataclass(slots=True)
class Objectives:
    """What SLOs ask for: `limits` by `measure` or `scope.measure`, and the error budget.

    The budget is 1 less `objective`, over `days`; None where no SLO has one.
    """

    limits: dict[str, float] = field(default_factory=dict)
    objective: float | None = None
    days: float | None = None


def read(where: str) -> Objectives:
    """Read the SLOs of `FILE`, or one as `FILE#NAME`; `ConfigurationError` has every problem."""
    file, _, name = where.partition("#")
    return parse(read_text(Path(file), "OpenSLO file"), file, name)


def parse(text: str, source: str, name: str = "") -> Objectives:
    """Read SLOs from the documents of `text`; `source` is named in every problem."""
    problems: list[str] = []
    slos, indicators = _sorted(parse_documents(text, source), source, problems)
    if name and not problems and name not in slos:
        problems.append(f"{source}: has no SLO `{name}`; it has {', '.join(slos) or 'none'}")
    elif not slos and not problems:
        problems.append(f"{source}: has no document of kind SLO")
    objectives = Objectives()
    chosen = {each: slo for each, slo in slos.items() if not name or each == name}
    for each, slo in chosen.items():
        problems += [f"{source}: {each}: {why}" for why in _take(slo, indicators, objectives)]
    if problems:
        raise ConfigurationError(problems)
    return objectives


def _sorted(
    documents: Sequence[Any], source: str, problems: list[str]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Mapping[str, Any]]]:
    """Return the documents of kind SLO and SLI by their names; other kinds limit nothing."""
    kinds: dict[str, dict[str, Mapping[str, Any]]] = {"SLO": {}, "SLI": {}}
    for number, each in enumerate(documents, 1):
        if not isinstance(each, Mapping) or not isinstance(each.get("metadata"), Mapping):
            problems.append(f"{source}: document {number} has no `metadata`: not OpenSLO")
            continue
        if each.get("apiVersion") != _API:
            problems.append(
                f"{source}: document {number}: apiVersion: found {each.get('apiVersion')!r}, "
                f"wanted {_API!r}"
            )
            continue
        name, kind = each["metadata"].get("name"), each.get("kind")
        texts = (("kind", kind, "a kind, as SLO"), ("metadata.name", name, "a name"))
        unnamed = [
            f"{source}: document {number}: {where}: found {value!r}, wanted {wanted}"
            for where, value, wanted in texts
            if not isinstance(value, str) or not value
        ]
        if unnamed:
            problems += unnamed
            continue
        own = kinds.get(str(kind), {})
        if name in own:
            problems.append(f"{source}: {kind} `{name}` is defined twice")
        own[name] = each
    return kinds["SLO"], kinds["SLI"]


def _take(
    slo: Mapping[str, Any], indicators: Mapping[str, Mapping[str, Any]], into: Objectives
) -> Iterator[str]:
    """Add what one SLO asks for to `into`; yield why it cannot be."""
    spec = slo.get("spec")
    if not isinstance(spec, Mapping):
        yield "has no `spec`"
        return
    indicator = spec.get("indicator")
    if "indicatorRef" in spec and "indicator" in spec:
        yield (
            f"found an `indicator` and the indicatorRef {spec['indicatorRef']!r}, wanted one of "
            "them"
        )
        return
    if "indicatorRef" in spec:
        indicator = indicators.get(str(spec["indicatorRef"]))
        if indicator is None:
            yield f"indicatorRef: the file has no SLI `{spec['indicatorRef']}`"
            return
    metric = (indicator or {}).get("spec") if isinstance(indicator, Mapping) else None
    goals = spec.get("objectives")
    if not isinstance(metric, Mapping) or not isinstance(goals, list) or not goals:
        yield "wanted an `indicator` with a `spec`, and `objectives`"
        return
    mappings = [goal for goal in goals if isinstance(goal, Mapping)]
    if len(goals) > 1 and any("indicator" in g or "indicatorRef" in g for g in mappings):
        yield "objectives: a composite SLO cannot be mapped; give each indicator an SLO of its own"
        return
    notes: dict[str, str] = {}
    for where, each in (("", slo), ("indicator.", indicator or {})):
        own, wrong = _annotations(each)
        notes = {**own, **notes}  # those of the SLO count
        if wrong:
            yield from (f"{where}{why}" for why in wrong)
            return
    yield from (f"annotation {key}: not known; wanted one of {', '.join(_ANNOTATIONS)}"
                for key in notes if key not in _ANNOTATIONS)  # fmt: skip
    for number, goal in enumerate(goals):
        where = f"objectives[{number}]"
        if not isinstance(goal, Mapping):
            yield f"{where}: found {goal!r}, wanted a mapping"
        elif "ratioMetric" in metric and "thresholdMetric" in metric:
            yield "indicator: found both ratioMetric and thresholdMetric, wanted one of them"
            return
        elif "ratioMetric" in metric:
            yield from (f"{where}: {why}" for why in _ratio(spec, goal, notes, into))
        elif "thresholdMetric" in metric:
            yield from (f"{where}: {why}" for why in _threshold(goal, notes, into))
        else:
            keys = ", ".join(map(str, metric)) or "nothing"
            yield f"indicator: found {keys}, wanted ratioMetric or thresholdMetric"
            return


def _annotations(of: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return our annotations of an SLO or of its indicator, and what is wrong with them."""
    metadata = of.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        return {}, [f"metadata: found {metadata!r}, wanted a mapping"]
    annotations = metadata.get("annotations") or {}
    if not isinstance(annotations, Mapping):
        return {}, [f"metadata.annotations: found {annotations!r}, wanted a mapping"]
    ours = {k: v for k, v in annotations.items() if str(k).startswith("brownout/")}
    wrong = [
        f"annotation {name}: found {value!r}, wanted a text or a number"
        for name, value in ours.items()
        if isinstance(value, bool) or not isinstance(value, str | int | float)
    ]
    return {name: str(value) for name, value in ours.items()}, wrong


def _ratio(
    spec: Mapping[str, Any], goal: Mapping[str, Any], notes: Mapping[str, str], into: Objectives
) -> Iterator[str]:
    """Map the ratio of good events: to the error budget, or to the availability of an episode."""
    target = _target(goal)
    if target is None:
        given = {name: goal[name] for name in ("target", "targetPercent") if name in goal}
        yield (
            f"found {given or 'neither'}, wanted a `target` above 0 and below 1, or a "
            "`targetPercent` above 0 and below 100"
        )
        return
    scope, measure = split(notes.get(_MEASURE, _BUDGET))
    if measure == "availability":
        yield from _add(into, notes[_MEASURE], target)
        return
    if measure != _BUDGET:
        yield (
            f"{_MEASURE}: found {measure!r}, wanted {_BUDGET} or availability: a ratio of good "
            "events is nothing else here"
        )
        return
    method = spec.get("budgetingMethod", "Occurrences")
    if method != "Occurrences":
        yield (
            f"budgetingMethod: found {method!r}, wanted 'Occurrences': brownout counts operations, "
            "not slices of time"
        )
        return
    days = _days(spec, notes)
    if isinstance(days, str):
        yield days
        return
    if into.objective is not None and (into.objective, into.days) != (target, days):
        yield (
            f"an error budget of {target:g} over {days:g} d, but another SLO has "
            f"{into.objective:g} over {into.days:g} d; a run has one: name the SLO as FILE#NAME"
        )
        return
    into.objective, into.days = target, days
    share = _number(notes.get(_LIMIT, "1"))
    if share is None or share <= 0:
        text = notes[_LIMIT]
        yield f"{_LIMIT}: found {text!r}, wanted the share of the budget that one fault may cost"
        return
    yield from _add(into, _BUDGET if scope == "total" else f"{scope}.{_BUDGET}", share)


def _threshold(
    goal: Mapping[str, Any], notes: Mapping[str, str], into: Objectives
) -> Iterator[str]:
    """Map a threshold of a metric to the measure that an annotation names."""
    name = notes.get(_MEASURE)
    if name is None:
        yield (
            f"a thresholdMetric is a query that brownout cannot read: the annotation {_MEASURE} "
            "names the measure that it stands for (docs/measures.md), as recovery_time or "
            "write.latency.during.p99_us"
        )
        return
    measure = find(split(name)[1])
    if measure is None:
        yield f"{_MEASURE}: {name!r} is not a measure; docs/measures.md lists them all"
        return
    operator, value = goal.get("op"), _number(goal.get("value"))
    if value is None:
        yield f"value: found {goal.get('value')!r}, wanted a number"
        return
    if _OPERATORS.get(str(operator)) != measure.direction:
        wanted = "gte" if measure.direction == AT_LEAST else "lte"
        yield f"op: found {operator!r}, wanted {wanted!r}: {name} is limited from the other side"
        return
    if "target" in goal or "targetPercent" in goal:
        yield from _percentile(name, goal)
    factor = _factor(measure, notes.get(_UNIT))
    if isinstance(factor, str):
        yield factor
        return
    limit = round(value * factor, 9)
    if not math.isfinite(limit):
        yield f"value: found {value:g}, wanted a smaller number"
        return
    yield from _add(into, name, limit)


def _percentile(name: str, goal: Mapping[str, Any]) -> Iterator[str]:
    """Say where the share of values that must keep the threshold is not the percentile's."""
    target = _target(goal)
    percentile = re.search(r"\.p(\d+)_us$", name)
    digits = percentile[1] if percentile else ""
    share = float(f"0.{digits}") if digits else None
    if target is None or share is None or abs(share - target) > 1e-9:
        yield (
            f"target: found {target}, wanted the percentile of the measure, as 0.99 for "
            f"latency.during.p99_us; {name} has {'no percentile' if share is None else share}"
        )


def _factor(measure: Measure, unit: str | None) -> float | str:
    """Return what turns a value into the measure's own unit, or what is wrong."""
    if unit is None or unit == measure.unit.name:
        return 1.0
    if unit not in measure.unit.scales:
        units = ", ".join(measure.unit.scales) or measure.unit.name
        return f"{_UNIT}: found {unit!r}, wanted one of {units} for {measure.name}"
    return float(measure.unit.scales[unit])


def _target(goal: Mapping[str, Any]) -> float | None:
    if "target" in goal and "targetPercent" in goal:
        return None
    target = _number(goal.get("target"))
    if (percent := _number(goal.get("targetPercent"))) is not None:
        target = round(percent / 100, 12)
    return target if target is not None and 0 < target < 1 else None


def _days(spec: Mapping[str, Any], notes: Mapping[str, str]) -> float | str:
    """Return the window of the error budget in days, or what is wrong."""
    if _DAYS in notes:
        days = _number(notes[_DAYS])
        return days if days and days > 0 else f"{_DAYS}: found {notes[_DAYS]!r}, wanted days"
    windows = spec.get("timeWindow")
    window = windows[0] if isinstance(windows, list) and len(windows) == 1 else windows
    text = str(window.get("duration")) if isinstance(window, Mapping) else str(window)
    match = re.fullmatch(r"([0-9]{1,6})([hdw])", text)
    if match is None or not int(match[1]):
        return (
            f"timeWindow: found {text!r}, wanted one window of hours, days or weeks, as 30d; for "
            f"a calendar month set the annotation {_DAYS}"
        )
    return int(match[1]) * _IN_DAYS[match[2]]


def _number(value: Any) -> float | None:
    """Return a finite number, or None for everything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(plain_number(value) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _add(into: Objectives, name: str, limit: float) -> Iterator[str]:
    if into.limits.get(name, limit) != limit:
        yield f"{name} is limited twice: {into.limits[name]:g} and {limit:g}"
    into.limits[name] = limit
