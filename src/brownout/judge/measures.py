"""Answer the impact probes from the impact of the whole run."""

from collections.abc import Mapping
from typing import Any

from brownout.judge import slo
from brownout.measure.measures import find

__all__ = ["answer"]

Impact = Mapping[str, Any]


def answer(impact: Impact | None, finished: bool, name: str, scope: str) -> dict[str, Any]:
    """Return the probe's answer for measure `name` in `scope`; see `brownout.probes.impact`.

    `limit` is there once the run is judged, None for a measure without one. `met` is true where
    nothing stands against it: no limit is exceeded, and none is left open. `name` may be a path
    (`latency.during.p99_us`). With several faults the worst value counts.
    """
    measure = find(name)
    found: dict[str, Any] = {"measure": name, "scope": scope, "value": None}
    found |= {"unit": measure.unit} if measure is not None else {}
    if impact is None and not finished:
        return {**found, "status": "not_applicable", "met": True}
    if impact is None:
        return {**found, "status": "no_data", "met": None}
    found["value"], detail = _value(impact, name, scope)
    found["status"] = "no_data" if found["value"] is None else "measured"
    found |= {"limit": None, "met": True}
    for limit in impact["slos"]:
        if (limit["name"], limit["scope"]) == (name, scope):
            found |= {key: limit[key] for key in ("limit", "limit_from", "met")}
    return found if detail is None else {**found, "detail": detail}


def _value(impact: Impact, name: str, scope: str) -> tuple[float | None, Any]:
    """The worst value over all faults, and the parts it is the sum of where it has parts."""
    if name == "lost_writes":
        ledger = impact["ledger"]
        return (ledger["lost"] if ledger["state"] in ("clean", "lost") else None), None
    values: list[float | None] = []
    detail: Any = None
    for fault in impact["faults"]:
        measured = fault if scope == "total" else fault["scopes"].get(scope, {})
        value = _follow(measured, name)
        if isinstance(value, Mapping):
            detail, value = dict(value), sum(value.values())
        elif isinstance(value, list):
            detail, value = value, value[-1]
        values.append(value)
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None, detail
    return slo.worst(name, known), detail


def _follow(measured: Mapping[str, Any], path: str) -> Any:
    """Follow `latency.during.p99_us` down into nested mappings; None where it leads nowhere."""
    value: Any = measured
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
