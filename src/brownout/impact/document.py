"""An impact as the JSON data of `impact.json`; `docs/run-directory.md` describes every field."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from brownout.impact.assess import Fault, Impact, ScopeImpact
from brownout.impact.course import Course
from brownout.impact.drops import Drops
from brownout.impact.losses import Losses
from brownout.impact.milestones import Milestones
from brownout.impact.sham import Sham
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
        "scopes": {
            scope: scope_document(measured)
            for scope, measured in fault.scopes.items()
            if scope != "total"
        },
    }


def _sham(sham: Sham) -> dict[str, Any]:
    dips = [[dip.start, dip.end] for dip in sham.dips]
    return {**asdict(sham), "dips": dips, "false_alarm": sham.false_alarm}


def _nothing() -> dict[str, Any]:
    """Return the measures of a fault that is not proven to have happened: none."""
    families = (Drops, Course, Losses, Milestones)
    names = [field.name for family in families for field in fields(family)]
    return dict.fromkeys([*names, "latency", "latency_all", "time_above"])


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
