"""A figure that knows what it is: an assertion that fails says all that one would ask next."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from brownout.measure.impact import NEVER
from brownout.measure.measures import find
from brownout.show.report.values import worded
from brownout.show.report.words import number

__all__ = ["Context", "Measured", "explained"]

_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Context:
    """Where a figure comes from. `interval` is its 95 % interval, in its own unit.

    `pinned` is the median of the baseline, `report` where one can read on.
    """

    measure: str
    scope: str = "total"
    report: str = ""
    interval: tuple[float, float] | None = None
    pinned: float | None = None


class Measured(float):
    """A measure of a run, in its own unit (seconds, ratios from 0 to 1, counts, µs).

    Infinite where it waited for what never came.
    """

    context: Context

    def __new__(cls, value: float, context: Context) -> "Measured":
        """Make a number with its context; what is computed of it is a plain number again."""
        measured = super().__new__(cls, value)
        measured.context = context
        return measured

    def __repr__(self) -> str:
        """`<recovery_time 12.3 s>`."""
        scope = "" if self.context.scope == "total" else f"{self.context.scope}."
        return f"<{scope}{self.context.measure} {self.words}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """As pytest-xdist and others copy it."""
        return Measured, (float(self), self.context)

    @property
    def words(self) -> str:
        """The value with its unit."""
        return _words(self.context.measure, float(self))


def explained(sign: str, left: object, right: object) -> list[str] | None:
    """Return the lines for `left sign right` that does not hold; None where neither is ours."""
    if isinstance(right, Measured) and not isinstance(left, Measured):
        return explained(_TURNED.get(sign, sign), right, left)
    if not isinstance(left, Measured) or sign not in _HOLDS:
        return None
    context = left.context
    limit = right if isinstance(right, int | float) else None
    wanted = _words(context.measure, float(limit)) if limit is not None else repr(right)
    lines = [f"{left!r} {sign} {wanted}"]
    if context.interval is not None:
        low, high = (_words(context.measure, edge) for edge in context.interval)
        within = _within(sign, limit, context.interval)
        lines.append(f"95 % interval: {low} to {high}{within}")
    else:
        lines.append("95 % interval: none, one run is one fault")
    if context.pinned is not None:
        lines.append(f"baseline: {_words(context.measure, context.pinned)}, the pinned median")
    return [*lines, f"report: {context.report}"] if context.report else lines


def _within(sign: str, limit: float | None, interval: tuple[float, float]) -> str:
    """Say where some of the interval would have kept the limit."""
    if limit is None:
        return ""
    kept = any(_HOLDS[sign](edge, limit) for edge in interval)
    return ", part of which keeps the limit" if kept else ", all of it beyond the limit"


def _words(measure: str, value: float) -> str:
    if math.isinf(value):
        return "never" if value == NEVER else "beyond every limit"
    return worded(measure, value) if find(measure) else number(value)  # the ledger's counts
