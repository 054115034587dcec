"""The values of impact.json in words, with their units, and what the absence of one means."""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.measure.measures import described
from brownout.show.report.words import NOT_SEEN, amount, between, number

__all__ = ["NONE", "bound", "found", "worded"]

#: What stands where there is nothing.
NONE = "–"


def worded(measure: str, value: Any) -> str:
    """A value of impact.json with its unit; a milestone with when it was last seen not reached."""
    if value is None:
        known = described(measure)
        return NOT_SEEN if known is not None and known.waits_for else NONE
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return number(sum(value.values()))
    if measure == "dips":
        return str(len(value))
    if isinstance(value, list | tuple):
        return _pair(measure, value)
    return amount(measure, float(value))


def found(slo: Mapping[str, Any]) -> str:
    """What was found where a limit is: a value, or what its absence means."""
    ends = (slo.get("best"), slo.get("worst"))
    if slo["value"] is not None and ends[0] != ends[1]:
        return between(ends, lambda end: worded(slo["name"], end), slo["value"])
    if slo["value"] is None and slo["name"].startswith("latency_all."):
        return "> deadline" if slo["met"] is False else NONE
    if slo["value"] is None and slo["met"] is None:
        return NONE
    return worded(slo["name"], slo["value"])


def bound(slo: Mapping[str, Any]) -> str:
    """`≤ 10 s`."""
    sign = "≥" if slo["direction"] == "at_least" else "≤"
    return f"{sign} {worded(slo['name'], slo['limit'])}"


def _pair(measure: str, pair: Sequence[float]) -> str:
    if measure == "tps_drop_interval":
        return " to ".join(amount(measure, edge) for edge in pair)
    last_no, first_yes = pair
    return f"{first_yes:.2f} s (not at {last_no:.2f} s)"
