"""The values of impact.json in words, with their units, and what the absence of one means."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from brownout.measure.impact import Judged
from brownout.measure.measures import described
from brownout.show.report.words import NOT_SEEN, amount, between, number

__all__ = ["NONE", "bound", "result", "signed", "worded"]

#: What stands where there is nothing.
NONE = "–"


def worded(measure: str, value: Any) -> str:
    """A value of impact.json with its unit; a milestone with when it was last seen not reached.

    Where 0 is not an amount, it is what 0 means: `the primary stayed`.
    """
    if value is None:
        definition = described(measure)
        return NOT_SEEN if definition is not None and definition.waits_for else NONE
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return number(sum(value.values()))
    if measure == "dips":
        return str(len(value))
    if value in (0, [0, 0], (0, 0)) and (definition := described(measure)) and definition.zero:
        return definition.zero
    if isinstance(value, list | tuple):
        return _pair(measure, value)
    return amount(measure, float(value))


def signed(measure: str, value: float | None) -> str:
    """A value of one run or of several; `–` for one that is not known, `never` for what never came.

    A difference has a sign where it is below 0.
    """
    if value is None:
        return NONE
    if math.isinf(value):
        return "never" if value > 0 else "any"
    words = amount(measure, abs(value))
    return f"-{words}" if value < 0 and round(value, 6) else words


def result(slo: Judged) -> str:
    """What was measured for a limit: a value, or what its absence means."""
    if slo.value is not None and slo.best != slo.worst:
        return between(slo.ends, partial(worded, slo.name), slo.value)
    if slo.value is None and slo.name.startswith("latency_all."):
        return "> deadline" if slo.met is False else NONE
    if slo.value is None and slo.met is None:
        return NONE
    return worded(slo.name, slo.value)


def bound(slo: Judged) -> str:
    """`≤ 10 s`."""
    sign = "≥" if slo.direction == "at_least" else "≤"
    return f"{sign} {amount(slo.name, slo.limit)}"


def _pair(measure: str, pair: Sequence[float | None]) -> str:
    low, high = pair
    if low is None or high is None:
        return NOT_SEEN
    if measure == "tps_drop_interval":
        return f"{amount(measure, low)} to {amount(measure, high)}"
    if low == high:
        return amount(measure, high)
    return f"{high:.2f} s (not at {low:.2f} s)"
