"""What can be wrong with a limit, in words: every problem at once, and no impossible limits."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from brownout.measure.measures import AT_LEAST, Measure, find, limit_names

__all__ = ["FIELDS", "item_problems", "kind_of", "place_problems", "value_problems"]

#: The settings of one limit in a file.
FIELDS = ("measure", "scope", "limit", "unit", "why")


def item_problems(item: Any) -> Iterator[str]:
    """Name all that is wrong with one item of a file of limits."""
    if not isinstance(item, Mapping):
        yield f": found {kind_of(item)}, wanted a mapping of {', '.join(FIELDS)}"
        return
    for name in item:
        if name not in FIELDS:
            yield f".{name}: unknown setting; wanted one of {', '.join(FIELDS)}"
    why = item.get("why")
    if not isinstance(why, str) or not why.strip():
        yield ".why: missing; wanted the reason of the limit"
    if not isinstance(item.get("scope", "total"), str):
        yield f".scope: found {item['scope']!r}, wanted total, read, write or a stream"
    if "measure" not in item or "limit" not in item:
        for name in ("measure", "limit"):
            if name not in item:
                yield f".{name}: missing"
        return
    for problem in value_problems(
        item["measure"], item.get("scope", "total"), item["limit"], item.get("unit")
    ):
        yield f".{problem}"


def place_problems(name: Any, scope: Any) -> Iterator[str]:
    """Name all that is wrong with a measure and the scope that it is asked or limited in."""
    measure = find(name) if isinstance(name, str) else None
    if measure is None:
        yield f"measure: {name!r} is unknown; wanted one of {', '.join(limit_names())}"
    elif not measure.per_scope and scope != "total":
        yield f"scope: {name} is of the whole cluster; found {scope!r}, wanted total"


def value_problems(name: Any, scope: Any, value: Any, unit: Any = None) -> Iterator[str]:
    """Name all that is wrong with a measure, the scope it is limited in, the limit and its unit."""
    yield from place_problems(name, scope)
    measure = find(name) if isinstance(name, str) else None
    if measure is None:
        return
    if unit is not None and unit not in list(measure.unit.scales):
        wanted = ", ".join(measure.unit.scales)
        yield f"unit: found {unit!r} for {name}, wanted one of {wanted}"
        return
    yield from _limit_problems(measure, value, unit)


def _limit_problems(measure: Measure, value: Any, unit: Any) -> Iterator[str]:
    unit = unit or measure.unit.name
    scale, maximum = measure.unit.scales[unit], measure.unit.maximum
    if not _is_finite(value) or not _is_finite(value * scale):
        yield f"limit: found {_shown(value)} for {measure.name}, wanted a number"
    elif value < 0:
        yield f"limit: found {value:g} for {measure.name}, wanted 0 or more"
    elif maximum is not None and value * scale > maximum:
        others = " or ".join(f"unit: {each}" for each in measure.unit.scales if each != unit)
        yield (
            f"limit: found {value:g} for {measure.name}, wanted a {measure.unit.name} of 0 to "
            f"{maximum:g} (or {others})"
        )
    elif _is_always_met(measure, value * scale):
        bound = "at least" if measure.direction == AT_LEAST else "at most"
        yield (
            f"limit: found {bound} {value:g} for {measure.name}, which every run meets; wanted a "
            "limit that can be broken, or `none` to drop it"
        )


def _is_always_met(measure: Measure, limit: float) -> bool:
    """Whether a limit allows everything: a share of nothing, or a fall to nothing."""
    if measure.direction == AT_LEAST:
        return limit == 0
    maximum = measure.unit.maximum
    return maximum is not None and measure.of_throughput and limit >= maximum


def _is_finite(value: Any) -> bool:
    """Whether a value is a number that a measure can be compared with."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _shown(value: Any) -> str:
    """Return a value in a message, even one longer than Python likes to print."""
    try:
        return repr(value)[:60]
    except ValueError:
        return "a number of thousands of digits"


def kind_of(value: Any) -> str:
    """Return what a value is, in a message."""
    return "nothing" if value is None else type(value).__name__
