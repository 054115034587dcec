"""Answer the impact probes from the impact of the whole run."""

from collections.abc import Mapping
from typing import Any

from brownout.measure.impact import Impact, as_number, worst_of
from brownout.measure.measures import find

__all__ = ["answer"]


def answer(impact: Impact | None, finished: bool, name: str, scope: str) -> dict[str, Any]:
    """Return the probe's answer for measure `name` in `scope`; see `brownout.probes.impact`.

    `limit` is there once the run is judged, None for a measure without one. `met` is true where
    nothing stands against it: no limit is exceeded, and none is left open. `name` may be a path
    (`latency.during.p99_us`). With several faults the worst value counts.
    """
    measure = find(name)
    found: dict[str, Any] = {"measure": name, "scope": scope, "value": None}
    found |= {"unit": measure.unit.name} if measure is not None else {}
    if impact is None and not finished:
        return {**found, "status": "not_applicable", "met": True}
    if impact is None:
        return {**found, "status": "no_data", "met": None}
    found["value"], detail = _value(impact, name, scope)
    found["status"] = "no_data" if found["value"] is None else "measured"
    found |= {"limit": None, "met": True}
    if (judged := impact.limit(name, scope)) is not None:
        found |= {"limit": judged.limit, "limit_from": judged.limit_from, "met": judged.met}
    return found if detail is None else {**found, "detail": detail}


def _value(impact: Impact, name: str, scope: str) -> tuple[float | None, Any]:
    """The worst value over all faults, and the parts it is the sum of where it has parts."""
    measure = find(name)
    if measure is not None and measure.of_ledger:
        return impact.ledger.value(name), None
    figures = [fault.figure(name, scope) for fault in impact.faults]
    parts: list[Any] = [dict(f) for f in figures if isinstance(f, Mapping)]
    parts += [list(f) for f in figures if isinstance(f, tuple)]
    return worst_of(name, list(map(as_number, figures))), parts[-1] if parts else None
