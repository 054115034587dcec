"""How a measure is spread over repeats: median, worst, and an interval of the median. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brownout.measure.measures import measures
from brownout.measure.reading import NEVER, is_at_least, value_of

__all__ = ["LEAST", "Spread", "spreads"]

#: With fewer repeats an interval would be a guess.
LEAST = 5
_RESAMPLES = 10_000
_SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure over repeats, in its own unit; `values` in the order of the repeats.

    `never` counts repeats in which it did not come about, as a recovery that was not seen; those
    are beyond every value. `low` and `high` bound the median with 95 %, None for few repeats.
    """

    measure: str
    values: tuple[float, ...]
    never: int
    median: float | None
    worst: float | None
    low: float | None
    high: float | None


def spreads(impacts: Sequence[Mapping[str, Any]]) -> list[Spread]:
    """Return the spread of each measure that there is; a repeat counts by its worst fault.

    One in which nothing was proven to be broken tells nothing of a fault.
    """
    told = [impact for impact in impacts if _landed(impact)]
    names = [m.name for m in measures().values() if m.main or m.name == "worst_second"]
    found = (_spread(name, [value_of(impact, name) for impact in told]) for name in names)
    return [spread for spread in found if spread.values]


def _spread(measure: str, values: Sequence[float | None]) -> Spread:
    """What never came lies beyond all that did, whichever way is worse."""
    worse = -np.inf if is_at_least(measure) else np.inf
    never = sum(value == NEVER for value in values)
    known = [value for value in values if value is not None and value != NEVER]
    ranked = np.asarray([*known, *[worse] * never], np.float64)
    if not len(ranked):
        return Spread(measure, (), never, None, None, None, None)
    low, high = _interval(ranked)
    worst = float(ranked.min() if worse < 0 else ranked.max())
    return Spread(measure, tuple(known), never, _finite(_median(ranked)), _finite(worst), low, high)


def _interval(ranked: Any) -> tuple[float | None, float | None]:
    if len(ranked) < LEAST:
        return None, None
    random = np.random.default_rng(_SEED)
    drawn = random.choice(ranked, (_RESAMPLES, len(ranked)))
    medians = np.sort(np.sort(drawn, axis=1)[:, len(ranked) // 2])
    low, high = medians[[int(0.025 * _RESAMPLES), int(0.975 * _RESAMPLES)]]
    return _finite(float(low)), _finite(float(high))


def _median(ranked: Any) -> float:
    """Return the middle value, the higher of two: there is no mean of a value and never."""
    return float(np.sort(ranked)[len(ranked) // 2])


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _landed(impact: Mapping[str, Any]) -> bool:
    return any(fault["effective"] is not None for fault in impact["faults"])
