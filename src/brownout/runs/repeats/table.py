"""Repeats as people read them: a line each, and how their measures are spread. Pure."""

from collections.abc import Sequence

from brownout.measure.measures import label
from brownout.runs.repeats.distribution import LEAST, Spread
from brownout.runs.repeats.running import Repeat
from brownout.show.report.words import STAND_IN, quantity

__all__ = ["line", "render"]

NEVER = "never"


def line(repeat: Repeat) -> str:
    """`2  seed 81,123  n1  pass  runs/…`."""
    where = str(repeat.directory) if repeat.directory else "no run was opened"
    draw = repeat.draw
    return f"{draw.number:3}  seed {draw.seed:6}  {repeat.target}  {repeat.verdict}  {where}"


def render(repeats: Sequence[Repeat], spreads: Sequence[Spread]) -> str:
    """Return the table of the spreads, over the repeats that were measured."""
    measured = max((len(spread.values) + spread.never for spread in spreads), default=0)
    rows = [("measure", "median", "95 % interval", "worst", "best to worst of the repeats")]
    rows += [_row(spread) for spread in spreads]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip()
        for row in rows
    ]
    verdicts = [repeat.verdict for repeat in repeats]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    stand_in = any((repeat.impact or {}).get("stand_in") for repeat in repeats)
    few = f"; an interval wants {LEAST} repeats" if measured < LEAST else ""
    last = [f"{len(repeats)} repeats: {counts}{few}", *([STAND_IN] if stand_in else [])]
    return "\n".join([*lines, "", *last])


def _row(spread: Spread) -> tuple[str, str, str, str, str]:
    def words(value: float | None) -> str:
        return NEVER if value is None else quantity(spread.measure, value)

    known = len(spread.values) + spread.never >= LEAST
    interval = f"{words(spread.low)} to {words(spread.high)}" if known else "–"
    each = ", ".join(words(value) for value in sorted(spread.values))
    never = f", {spread.never} × {NEVER}" if spread.never else ""
    return label(spread.measure), words(spread.median), interval, words(spread.worst), each + never
