"""The range of each measure: what the generator missed, and what had not ended with the run."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from brownout.measure.course import Course
from brownout.measure.episodes import Episode
from brownout.measure.impact import NEVER, Fault, Range, as_number
from brownout.measure.measures import described, is_at_least, measures
from brownout.measure.milestones import not_before
from brownout.measure.recovery import recovered_no_sooner
from brownout.measure.view import View

__all__ = ["lower_bounds_of", "ranges_of", "rounded"]

Data = TypeVar("Data")
#: Six decimals: a µs, a millionth. More would only show how floats are added.
_DECIMALS = 6


def rounded(value: Data) -> Data:
    """Return data with its floats rounded to six decimals, whatever it is made of."""
    result: Any = value
    if isinstance(value, float):
        result = round(value, _DECIMALS) + 0.0  # -0.0 + 0.0 is 0.0
    elif is_dataclass(value) and not isinstance(value, type):
        result = replace(value, **{e.name: rounded(getattr(value, e.name)) for e in fields(value)})
    elif isinstance(value, Mapping):
        result = {key: rounded(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        result = type(value)(map(rounded, value))
    return result  # type: ignore[no-any-return]


def lower_bounds_of(course: Course, view: View, episode: Episode) -> dict[str, float]:
    """Return how long what never came took at least, by the name of its measure."""
    bounds = {}
    if course.recovery_time is None:
        bounds["recovery_time"] = recovered_no_sooner(view) - view.effective
    if course.settled_time is None:
        bounds["settled_time"] = max(0.0, view.until - view.effective)
    return bounds | not_before(episode, view.effective)


def ranges_of(
    cases: Sequence[tuple[Fault, Mapping[str, float]]],
    scope: str,
    bounds: Mapping[str, tuple[float, float]],
) -> dict[str, Range]:
    """Return [best, worst] of each measure of a scope in which the two differ; None is never.

    `cases` are the same fault with each operation that the generator missed served in time, as it
    was, and with each lost, and how long what never came took at least. `bounds` has what no such
    case gives, as (least, most).
    """
    ranges: dict[str, Range] = {}
    above = cases[0][0].scopes[scope].latency.time_above
    wanted = (m for m in measures().values() if m.limitable and (m.per_scope or scope == "total"))
    for name in [*(measure.name for measure in wanted), *(f"time_above.{each}" for each in above)]:
        values = [
            value
            for fault, lower_bounds in cases
            for value in _between(fault, scope, name, lower_bounds)
        ]
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            continue
        numbers += bounds.get(name, ())
        low, high = rounded(min(numbers)), rounded(max(numbers))
        if low != high:
            best, worst = (high, low) if is_at_least(name) else (low, high)
            ranges[name] = (
                None if best == NEVER else best,
                None if worst == NEVER else worst,
            )
    return ranges


def _between(
    fault: Fault, scope: str, name: str, lower_bounds: Mapping[str, float]
) -> tuple[float | None, float | None]:
    """Return between what a measure lies in one case: what was not seen to come may never.

    What of all operations took longer than the deadline did so beyond every number.
    """
    if name in lower_bounds:
        return lower_bounds[name], NEVER
    figure = fault.figure(name, scope)
    if isinstance(figure, tuple) and figure[-1] is None:  # [last no, never]
        return figure[0], NEVER
    if isinstance(figure, tuple) and (measure := described(name)) and measure.bounds:
        return figure
    value = as_number(figure)
    if value is None and fault.scopes[scope].is_beyond_deadline(name):
        value = NEVER
    return value, value
