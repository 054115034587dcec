"""Answer the impact probes from the impact of the whole run."""

from collections.abc import Iterable, Mapping
from typing import Any

from brownout.judge.slo import Limit
from brownout.measure.impact import Impact, as_number, worst_of
from brownout.measure.measures import find

__all__ = ["answer", "limits_answer"]


def answer(impact: Impact | None, finished: bool, name: str, scope: str) -> dict[str, Any]:
    """Return the probe's answer for measure `name` in `scope`; see `brownout.probes.impact`.

    `limit` is there once the run is judged, None for a measure without one. `met` is true where
    nothing stands in the way: no limit is exceeded, and none is left open. `name` may be a path
    (`latency.during.p99_us`). With several faults the worst value counts.
    """
    measure = find(name)
    fields: dict[str, Any] = {"measure": name, "scope": scope, "value": None}
    fields |= {"unit": measure.unit.name} if measure is not None else {}
    if impact is None and not finished:
        return {**fields, "status": "not_applicable", "met": True}
    if impact is None:
        return {**fields, "status": "no_data", "met": None}
    fields["value"], detail = _value(impact, name, scope)
    fields["status"] = "no_data" if fields["value"] is None else "measured"
    fields |= {"limit": None, "met": True}
    if (judged := impact.limit(name, scope)) is not None:
        fields |= {"limit": judged.limit, "limit_from": judged.limit_from, "met": judged.met}
    return fields if detail is None else {**fields, "detail": detail}


def limits_answer(impact: Impact | None, finished: bool, limits: Iterable[Limit]) -> dict[str, Any]:
    """Return the answer of the probe for all `limits` of a run, each with its own answer.

    `met` is false where a limit is exceeded, null where one is open or none is set, else true.
    """
    places = [(limit.measure, limit.scope) for limit in limits]
    if impact is not None:
        places = [(judged.name, judged.scope) for judged in impact.slos]
    answers = [answer(impact, finished, *place) for place in places]
    if impact is None and not finished:
        return {"status": "not_applicable", "met": True, "limits": answers}
    outcomes = {each["met"] for each in answers}
    met = False if False in outcomes else None if None in outcomes or not answers else True
    is_measured = impact is not None and bool(answers)
    return {"status": "measured" if is_measured else "no_data", "met": met, "limits": answers}


def _value(impact: Impact, name: str, scope: str) -> tuple[float | None, Any]:
    """The worst value over all faults, and the parts it is the sum of where it has parts."""
    measure = find(name)
    if measure is not None and measure.of_ledger:
        return impact.ledger.value(name), None
    figures = [fault.figure(name, scope) for fault in impact.faults]
    parts: list[Any] = [dict(f) for f in figures if isinstance(f, Mapping)]
    parts += [list(f) for f in figures if isinstance(f, tuple)]
    return worst_of(name, list(map(as_number, figures))), parts[-1] if parts else None
