"""One figure out of an impact document, by the name that limits and baselines have for it. Pure.

A wait that never ended is `NEVER`, beyond every number; what is not known is None. The two are
never mixed up: the first is as bad as can be, the second says nothing.
"""

import math
from collections.abc import Mapping
from typing import Any

from brownout.measure.measures import find

__all__ = ["NEVER", "is_at_least", "of_fault", "plain", "split", "value_of"]

Document = Mapping[str, Any]
NEVER = math.inf


def split(name: str) -> tuple[str, str]:
    """Return scope and measure of `write.blackout`, `latency.during.p99_us`, `tps_drop`."""
    if find(name):
        return "total", name
    scope, dot, measure = name.partition(".")
    return (scope, measure) if dot else ("total", name)


def is_at_least(measure: str) -> bool:
    """Whether more of a measure is better."""
    found = find(measure)
    return found is not None and found.better == "higher"


def value_of(impact: Document, measure: str, scope: str = "total") -> float | None:
    """Return a measure of a run in its own unit: of several faults that in which it is worst.

    Faults that did not take effect count for nothing. What an aborted run did not live to see is
    not known.
    """
    if measure == "lost_writes":
        ledger = impact["ledger"]
        return float(ledger["lost"]) if ledger["state"] in ("clean", "lost") else None
    values = [
        of_fault(fault, measure, scope)
        for fault in impact["faults"]
        if fault["effective"] is not None
    ]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    worst = min(known) if is_at_least(measure) else max(known)
    return None if worst == NEVER and _was_aborted(impact) else worst


def of_fault(fault: Document, measure: str, scope: str = "total") -> float | None:
    """Return a measure of one fault; `NEVER` where it waited for what did not come."""
    value = plain(fault, measure, scope)
    if value is not None:
        return float(value)
    part = _scoped(fault, scope)
    return NEVER if part is not None and _never(fault, part, measure) else None


def plain(fault: Document, measure: str, scope: str = "total") -> float | None:
    """Return a measure of one fault as a number: a sum over causes, the later bound of a pair."""
    value: Any = _scoped(fault, scope)
    for step in measure.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        return float(sum(value.values()))
    if isinstance(value, list):
        return float(value[-1])
    return None if value is None else value


def _was_aborted(impact: Document) -> bool:
    """Whether a person or a stop condition ended the run, whatever its verdict is for that."""
    told = any(str(reason).startswith("aborted: ") for reason in impact.get("reasons") or ())
    return told or impact.get("verdict") == "aborted"


def _scoped(fault: Document, scope: str) -> Document | None:
    return fault if scope == "total" else fault["scopes"].get(scope)


def _never(fault: Document, part: Document, measure: str) -> bool:
    """Whether a measure without a value waited for what did not come."""
    known = find(measure)
    if known is not None and known.waits_for == "service":
        return measure in part
    if known is not None and known.waits_for:
        found = fault.get("milestones") or ()
        return any(m["name"] == known.waits_for and m["first_yes"] is None for m in found)
    if measure.startswith("latency_all."):
        phase = (part.get("latency_all") or {}).get(measure.split(".")[1]) or {}
        return bool(phase.get("n"))
    return False
