"""An impact as the JSON data of `impact.json`; `docs/run-directory.md` describes every field."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from brownout.measure.assess import Fault, Impact, ScopeImpact
from brownout.measure.course import Course
from brownout.measure.drops import Drops
from brownout.measure.losses import Losses
from brownout.measure.measures import added, measures
from brownout.measure.milestones import Milestones
from brownout.measure.reading import NEVER, is_at_least, plain
from brownout.measure.sham import Sham
from brownout.run.events import Event

__all__ = ["as_document", "rounded", "scope_document"]

#: Six decimals: a µs, a millionth. More would only show how floats are added.
_DECIMALS = 6


def as_document(impact: Impact) -> dict[str, Any]:
    """Return `{"baseline": …, "faults": […], "shams": […]}` as plain data.

    Floats are rounded to six decimals.
    """
    return {
        "baseline": rounded(impact.baseline.as_dict()),
        "faults": [rounded(_fault(fault)) for fault in impact.faults],
        "shams": [rounded(_sham(sham)) for sham in impact.shams],
    }


def scope_document(measured: ScopeImpact) -> dict[str, Any]:
    """Return every measure of a scope under its own name, unrounded."""
    course = {field.name: getattr(measured.course, field.name) for field in fields(measured.course)}
    phases = measured.latency.phases
    return {
        **asdict(measured.drops),
        **course,
        "dips": [[dip.start, dip.end] for dip in measured.course.dips],
        **asdict(measured.losses),
        **asdict(measured.milestones),
        "latency": {name: {"n": phase.n, **phase.ok} for name, phase in phases.items()},
        "latency_all": {
            name: {"n": phase.n + phase.not_ok, "longer_than_deadline": phase.not_ok, **phase.all}
            for name, phase in phases.items()
        },
        "time_above": dict(measured.latency.time_above),
        **measured.added,
    }


def rounded(value: Any) -> Any:
    """Return plain data with its floats rounded; whole counts become integers by their measure."""
    if isinstance(value, float):
        return round(value, _DECIMALS) + 0.0  # -0.0 + 0.0 is 0.0
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def _fault(fault: Fault) -> dict[str, Any]:
    episode = fault.episode
    total = fault.scopes.get("total")
    return {
        "name": episode.name,
        "events": [_event(event) for event in episode.events],
        "milestones": [_milestone(event) for event in episode.milestones],
        "requested": episode.requested,
        "effective": episode.effective,
        "start": episode.start,
        "end": fault.end,
        "until": episode.until,
        **(scope_document(total) if total else _nothing()),
        **asdict(fault.rebalance),
        "longest_blackout_by_lane": dict(fault.blackout_by_lane),
        "ranges": ranges_of(fault, "total"),
        "scopes": {
            scope: {**scope_document(measured), "ranges": ranges_of(fault, scope)}
            for scope, measured in fault.scopes.items()
            if scope != "total"
        },
    }


def ranges_of(fault: Fault, scope: str) -> dict[str, list[float | None]]:
    """Return [best, worst] of each measure of a scope in which the two differ; null is never.

    They differ by what the generator missed, and where what was waited for did not come.
    """
    if scope not in fault.scopes:
        return {}
    cases = [_of_case(case, scope) for case in (fault.best or fault, fault, fault.worst or fault)]
    bounds = rounded(fault.bounds.get(scope, {}))
    found: dict[str, list[float | None]] = {}
    for name in limitable(cases[1], scope):
        values = [value for case in cases for value in _between(case, name)]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            continue
        known += bounds.get(name, ())
        low, high = min(known), max(known)
        if low != high:
            both = [high, low] if is_at_least(name) else [low, high]
            found[name] = [None if value == NEVER else value for value in both]
    return found


def _of_case(fault: Fault, scope: str) -> dict[str, Any]:
    """Return a fault's measures of one scope in one case, and what took at least how long."""
    measured = fault.scopes[scope]
    whole = asdict(fault.rebalance) if scope == "total" else {}
    found: dict[str, Any] = rounded(
        {**scope_document(measured), **whole, "least": dict(measured.least)}
    )
    return found


def _between(document: Mapping[str, Any], name: str) -> tuple[float | None, float | None]:
    """Return between what a measure lies in one case: what was not seen to come may never."""
    least = document["least"].get(name)
    return (least, NEVER) if least is not None else (value := _number(document, name), value)


def _number(document: Mapping[str, Any], name: str) -> float | None:
    """Return a measure as a number; what of all operations took longer than the deadline did so
    beyond every number."""
    value = plain(document, name)
    if value is None and name.startswith("latency_all."):
        return NEVER if document["latency_all"][name.split(".")[1]]["n"] else None
    return value


def limitable(document: Mapping[str, Any], scope: str) -> list[str]:
    """Return the names of all measures of a scope that a limit can be set on."""
    found = (m for m in measures().values() if m.limitable and (m.per_scope or scope == "total"))
    above = (f"time_above.{name}" for name in document["time_above"] or ())
    return [*(measure.name for measure in found), *above]


def _sham(sham: Sham) -> dict[str, Any]:
    dips = [[dip.start, dip.end] for dip in sham.dips]
    return {**asdict(sham), "dips": dips, "false_alarm": sham.false_alarm}


def _nothing() -> dict[str, Any]:
    """Return the measures of a fault that is not proven to have happened: none."""
    families = (Drops, Course, Losses, Milestones)
    names = [field.name for family in families for field in fields(family)]
    names += ["latency", "latency_all", "time_above", *(measure.name for measure in added())]
    return dict.fromkeys(names)


def _event(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "name": event.name,
        "node": event.node,
        "requested": event.requested,
        "effective": event.effective,
        "uncertainty": event.uncertainty,
        "ended": event.ended,
        "evidence": dict(event.evidence),
        "error": event.error,
    }


def _milestone(event: Event) -> dict[str, Any]:
    return {
        "name": event.name,
        "last_no": event.fields.get("last_no"),
        "first_yes": event.fields.get("first_yes"),
        "limit_s": event.fields.get("limit_s"),
        "revoked": event.is_revoked,
        "evidence": dict(event.evidence),
    }
