"""The cells of a book: their runs, and each figure over them. Pure.

A figure is a median with its interval and its worst; or two outcomes, if the runs clearly disagree;
or not measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from brownout.measure.impact import NEVER
from brownout.runs.book.record import Key
from brownout.runs.gate.pairs import Difference, differences
from brownout.runs.outcomes import outcome_words, outcomes
from brownout.runs.run_set import LEAST, Runs, Spread
from brownout.show.report.values import signed

__all__ = ["COMPARED", "NOT_MEASURED", "ROWS", "Cell", "Figure", "Pair", "figure", "pairs",
           "words_of"]  # fmt: skip

NOT_MEASURED = "not measured"
#: The rows of a fault's table, in order.
ROWS = (
    "lost_writes",
    "tps_drop",
    "blackout",
    "partial_outage",
    "promoted_time",
    "client_recovered_time",
    "degraded_time",
    "return_disturbance",
    "recovery_time",
    "settled_time",
    "redundancy_time",
    "lost_seconds",
    "errors",
    "failed_operations",
    "in_doubt_operations",
    "in_doubt_applied",
    "in_doubt_absent",
    "primary_overlap",
    *(f"latency.{phase}.{percentile}_us"
      for phase in ("before", "during", "after") for percentile in ("p50", "p99", "p999")),
)  # fmt: skip
#: What two engines are compared by: the fewer, the fewer repeats a decision needs.
COMPARED = ("blackout", "recovery_time", "lost_seconds")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure over the runs of a cell; `values` in order, `NEVER` for what did not come.

    `two` has the values of two outcomes, the lower first; it is empty where the runs agree.
    """

    measure: str
    values: tuple[float, ...]
    runs: int
    spread: Spread | None
    two: tuple[tuple[float, ...], ...] = ()

    @property
    def words(self) -> str:
        """`2.1 s, worst 2.4 s (1.9 s to 2.4 s)`; `4 s (2 of 5), 30 s to 31 s (3 of 5)`.

        Where every run has the same figure it stands alone.
        """
        return words_of(self.measure, self.values, self.runs, self.spread, self.two)


@dataclass(frozen=True, slots=True)
class Cell:
    """One engine under one fault at one load; `why` says why it has no runs.

    `tried` counts all runs that were made, those that could not be judged too.
    """

    key: Key
    runs: Runs = field(default_factory=Runs)
    tried: int = 0
    why: str = ""

    @property
    def figures(self) -> list[Figure]:
        """Every figure of the cell, in the order of the rows."""
        return [figure(name, self.runs) for name in ROWS]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two engines under the same fault at the same share of their capacity."""

    first: Cell
    second: Cell
    differences: tuple[Difference, ...]


def figure(measure: str, runs: Runs) -> Figure:
    """Return a measure over runs in which a fault took effect."""
    broken = Runs(run for run in runs if run.impact.effective_faults)
    values = tuple(v for run in broken if (v := run.value(measure)) is not None)
    return Figure(measure, values, len(runs), broken.spread(measure), outcomes(measure, values))


def words_of(
    measure: str,
    values: Sequence[float],
    runs: int,
    spread: Spread | None,
    two: Sequence[Sequence[float]] = (),
) -> str:
    """Return a figure in words."""
    if not values:
        return NOT_MEASURED
    if two:
        return outcome_words(measure, two, runs)
    if spread is None:
        return f"never ({len(values)} of {runs})"
    middle, worst, low, high = (
        signed(measure, NEVER if value is None else value)
        for value in (spread.median, spread.worst, spread.low, spread.high)
    )
    text = middle if worst == middle else f"{middle}, worst {worst}"
    if len(values) >= LEAST and not low == middle == high:
        text += f" ({low} to {high})"
    return text if len(values) == runs else f"{text}, in {len(values)} of {runs}"


def pairs(cells: Sequence[Cell]) -> list[Pair]:
    """Compare every two cells that have runs."""
    there = [cell for cell in cells if cell.runs]
    return [
        Pair(one, two, tuple(differences(one.runs, two.runs, COMPARED)))
        for one, two in combinations(there, 2)
    ]
