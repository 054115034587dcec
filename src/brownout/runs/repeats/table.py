"""How the measures of repeats are spread, as a table. Pure."""

from collections.abc import Sequence

from brownout.measure.measures import label
from brownout.runs.finished import LEAST, Runs, Spread, counted
from brownout.show.report.grid import Grid, columns
from brownout.show.report.measured import NONE, told
from brownout.show.report.words import STAND_IN

__all__ = ["render"]

_HEADS = "measure | median:n | 95 % interval:n | worst:n | best to worst of the repeats"


def render(runs: Runs, verdicts: Sequence[str]) -> str:
    """Return the spreads of `runs`; `verdicts` has those of repeats without a run as well."""
    spreads = runs.spreads()
    measured = max((len(spread.values) + spread.never for spread in spreads), default=0)
    few = f"; an interval wants {LEAST} repeats" if measured < LEAST else ""
    stand_in = [STAND_IN] if runs.stand_in else []
    last = [f"{len(verdicts)} repeats: {counted(verdicts)}{few}", *stand_in]
    return "\n".join([Grid("", columns(_HEADS), list(map(_row, spreads))).plain(), "", *last])


def _row(spread: Spread) -> list[str]:
    def words(value: float | None) -> str:
        return "never" if value is None else told(spread.measure, value)

    known = len(spread.values) + spread.never >= LEAST
    interval = f"{words(spread.low)} to {words(spread.high)}" if known else NONE
    each = ", ".join(map(words, sorted(spread.values)))
    more = f", {spread.never} × never" if spread.never else ""
    return [label(spread.measure), words(spread.median), interval, words(spread.worst), each + more]
