"""Numbers as people read them: thousands apart, units beside, three figures at most."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brownout.judge.slo import Limit
from brownout.measure.impact import Load
from brownout.measure.measures import described
from brownout.run.contract import early_end

__all__ = [
    "NOT_SEEN",
    "STAND_IN",
    "amount",
    "answer_words",
    "between",
    "early_words",
    "limit_words",
    "number",
    "pace",
    "quantity",
]

#: Stands beneath figures that are a stand-in's.
STAND_IN = "STAND-IN: not the database was measured, and nothing here says how fast it is."
#: Stands for what a run waited for until it ended, in whatever way: it may have come later.
NOT_SEEN = "not seen before the run ended"


def number(value: float) -> str:
    """`41,220`."""
    return f"{value:,.0f}"


def pace(load: Load) -> str:
    """`800/s open loop`, `closed loop`, `300/s mixed loop`."""
    rate = f"{number(load.rate)}/s" if load.rate else ""
    loop = f"{load.loop} loop" if load.loop else ""
    return " ".join(part for part in (rate, loop) if part)


def quantity(measure: str, value: float | Sequence[float] | None) -> str:
    """Word a value by its measure, in three figures at most.

    A milestone is a pair, the last poll that said no and the first that said yes.
    """
    if isinstance(value, Sequence):
        value = value[-1]
    if value is None:
        definition = described(measure)
        return NOT_SEEN if definition is not None and definition.waits_for else "no data"
    return amount(measure, value, most_digits=3)


def amount(measure: str, value: float, most_digits: int = 17) -> str:
    """Word a number by the unit of its measure: a ratio as a percentage, µs in ms, a count plain.

    The unit of a measure that this installation does not have is unknown.
    """
    definition = described(measure)
    if definition is None:
        return f"{value:,.4g}"
    return definition.unit.words(value, min(definition.digits, most_digits))


def between(
    ends: Sequence[float | None] | None, worded: Callable[[float | None], str], value: Any
) -> str:
    """Word a value, or `2.3 s to 8.6 s` where it lies between a best and a worst case."""
    if not ends or ends[0] == ends[1]:
        return worded(value)
    best, worst = ends
    return f"{worded(best)} to {worded(worst)}"


def early_words(evidence: Mapping[str, Any]) -> str:
    """`1 to 1.8 s`: how long a break lasted that ended before its undo; empty for any other."""
    lasted = early_end(evidence)
    if lasted is None:
        return ""
    return f"{lasted[0]:.1f} to {lasted[1]:.1f} s"


def limit_words(limit: Limit) -> str:
    """`recovery_time ≤ 10 s`, with the scope where it is not the whole load."""
    scope = "" if limit.scope == "total" else f" ({limit.scope})"
    sign = "≥" if limit.direction == "at_least" else "≤"
    return f"{limit.measure}{scope} {sign} {quantity(limit.measure, limit.limit)}"


def answer_words(answer: Mapping[str, Any]) -> str:
    """`recovery_time ≤ 10 s: 2.1 s, met`: an answer about a measure that has a limit."""
    limit = Limit(answer["measure"], answer["limit"], answer["scope"])
    met = {True: "met", False: "not met", None: "open"}[answer["met"]]
    return f"{limit_words(limit)}: {quantity(limit.measure, answer['value'])}, {met}"
