"""How the measures of repeats are spread, as a table. Pure."""

from collections.abc import Sequence

from brownout.measure.impact import NEVER
from brownout.measure.measures import label
from brownout.runs.outcomes import one_cell, outcome_words, outcomes
from brownout.runs.run_set import LEAST, Runs, Spread, counted
from brownout.runs.share import excluded_words, share_words
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.values import NONE, signed
from brownout.show.report.words import STAND_IN

__all__ = ["render"]

_HEADS = "measure | median:n | 95 % interval:n | worst:n | best to worst of the repeats"


def render(runs: Runs, verdicts: Sequence[str], not_judged: Sequence[str] = ()) -> str:
    """Return the spreads of `runs`; `verdicts` has those of repeats that are not among them too.

    `not_judged` names the runs that say nothing about the fault.
    """
    spreads = runs.spreads()
    measured = max((len(spread.values) + spread.never for spread in spreads), default=0)
    few = f"; an interval wants {LEAST} repeats" if measured < LEAST else ""
    stand_in = [STAND_IN] if runs.stand_in else []
    last = [f"{len(verdicts)} repeats: {counted(verdicts)}{few}", *_shares(runs), *stand_in]
    last += not_judged
    return "\n".join([Grid("", columns(_HEADS), list(map(_row, spreads))).plain(), "", *last])


def _shares(runs: Runs) -> list[str]:
    """Say what so few runs cannot exclude, lost writes by name."""
    losses = [lost for run in runs if (lost := run.value("lost_writes")) is not None]
    if not losses:
        return [excluded_words(len(runs))] if runs else []
    seen = share_words(sum(lost > 0 for lost in losses), len(losses))
    return [f"acknowledged writes were lost in {seen}"]


def _row(spread: Spread) -> list[str | Cell]:
    def words(value: float | None) -> str:
        return "never" if value is None else signed(spread.measure, value)

    enough = len(spread.values) + spread.never >= LEAST
    interval = f"{words(spread.low)} to {words(spread.high)}" if enough else NONE
    each = ", ".join(map(words, sorted(spread.values)))
    more = f", {spread.never} × never" if spread.never else ""
    ranked = [*spread.values, *[NEVER] * spread.never]
    highest = max(spread.values, default=0.0)
    two = outcomes(spread.measure, ranked)
    middle = outcome_words(spread.measure, two, len(ranked)) if two else words(spread.median)
    row = [label(spread.measure), middle, NONE if two else interval, words(spread.worst)]
    return [*row, one_cell(spread.measure, ranked, highest, each + more)]
