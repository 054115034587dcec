"""Several runs as one figure: their median, or two outcomes; and each run as a dot. Pure.

Two outcomes are distinguished from one spread outcome by the widest gap between the sorted values:
it is at least `times(n)` as wide as either group, by differences or by ratios. Of 100 sets of n
runs of a single outcome (normal, uniform, exponential, Laplace or log-normal) about one has such a
gap (tests/runs/test_outcomes.py).
"""

from collections.abc import Iterable, Sequence
from math import inf, isfinite, log

from brownout.measure.measures import described
from brownout.runs.run_set import median
from brownout.show.report.grid import Cell
from brownout.show.report.values import signed

__all__ = ["FEWEST", "cells", "one_cell", "outcome_words", "outcomes", "times"]

#: An outcome has so many runs at least: a single one is the worst, or the best.
FEWEST = 2
#: How many times as wide as either group the gap is, for 4, 5, … runs; the last for any more.
_TIMES = (14.7, 8.1, 5.5, 4.2, 3.5, 3.1, 3.0)
#: A gap of less than this share of the lower outcome is a little more of the same.
_MORE = 0.5


def times(n: int) -> float:
    """Return how many times as wide as either group the gap between two outcomes of `n` runs is."""
    if n < 2 * FEWEST:
        return inf
    return _TIMES[min(n - 2 * FEWEST, len(_TIMES) - 1)]


def outcomes(measure: str, values: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Return the two outcomes that values clearly fall into, the lower first; else nothing.

    Each has two values or more. Beyond `times`, the gap is as wide as half of the lower one's
    highest, and as wide as any run's noise. `NEVER` is apart from every number.
    """
    ranked = sorted(values)
    kind = described(measure)
    least = kind.unit.apart if kind else 1.0
    splits = [(_apartness(ranked, n), n) for n in range(FEWEST, len(ranked) - FEWEST + 1)]
    apart, place = max(splits, default=(0.0, 0))
    low, high = tuple(ranked[:place]), tuple(ranked[place:])
    if apart < times(len(ranked)) or high[0] - low[-1] < max(least, _MORE * abs(low[-1])):
        return ()
    return low, high


def _apartness(ranked: Sequence[float], place: int) -> float:
    """Return how many times as wide as either group the gap before `place` is.

    By differences or by ratios, whichever is more: 4, 5 and 6 are as alike as 1,161 and 1,420.
    """
    scales = [ranked]
    if ranked[0] > 0:
        scales.append([log(value) for value in ranked])
    return max(_widths(scale[:place], scale[place:]) for scale in scales)


def _widths(low: Sequence[float], high: Sequence[float]) -> float:
    gap = high[0] - low[-1] if high[0] != low[-1] else 0.0
    width = max(part[-1] - part[0] if part[-1] != part[0] else 0.0 for part in (low, high))
    return gap / width if width else inf if gap else 0.0


def outcome_words(measure: str, parts: Iterable[Sequence[float]], runs: int) -> str:
    """`4 s (2 of 5), 30 s to 31 s (3 of 5)`."""
    return ", ".join(f"{_span(measure, part)} ({len(part)} of {runs})" for part in parts)


def cells(measure: str, groups: Sequence[Sequence[float | None]]) -> list[Cell]:
    """Return the cell of each group of runs: its median, or two outcomes, and a dot for each run.

    The dots of all of them are on one scale from 0 to the highest value.
    """
    return [one_cell(measure, values, _highest(groups)) for values in groups]


def one_cell(
    measure: str, values: Sequence[float | None], highest: float, words: str | None = None
) -> Cell:
    """Return the cell of one group of runs; `words` stand for its median."""
    measured = [value for value in values if value is not None]
    if words is None:
        two = outcomes(measure, measured) if len(measured) == len(values) else ()
        words = outcome_words(measure, two, len(values)) if two else signed(measure, median(values))
    if len(measured) < FEWEST or not any(measured):  # all of them are 0
        return Cell(words)
    return Cell(words, dots=tuple(_place(value, highest) for value in sorted(measured)))


def _highest(groups: Iterable[Iterable[float | None]]) -> float:
    return max((v for group in groups for v in group if v is not None and isfinite(v)), default=0.0)


def _place(value: float, highest: float) -> float:
    """Return where a dot lies from 0 to 1; infinite for what never came."""
    if not isfinite(value):
        return inf
    return min(1.0, max(0.0, value / highest)) if highest > 0 else 0.0


def _span(measure: str, values: Sequence[float]) -> str:
    low, high = signed(measure, values[0]), signed(measure, values[-1])
    return low if low == high else f"{low} to {high}"
