"""How many repeats a comparison needs before it decides, from how these repeats are spread. Pure.

By simulation, since neither test has a formula for small samples of unknown shape: repeats are
drawn from the deviations of those that there are.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brownout.runs.gate.ranks import CONFIDENCE, edge_rank, null_below
from brownout.runs.run_set import LEAST, median

__all__ = ["POWER", "repeats_needed"]

Floats = NDArray[np.float64]
POWER = 0.8
_LADDER = (LEAST, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50)
_DRAWS = 300
_SEED = 20_260_102
#: A failure must be this clear; stricter than one comparison by itself, since there are several.
_TAIL = 0.01


def repeats_needed(
    before: Sequence[float], after: Sequence[float], allowed: float, critical: float
) -> int | None:
    """Return the fewest repeats of either side with which the gate decides.

    With so many, 80 % of unchanged systems pass, and 80 % of those that became worse by twice
    what is critical fail. It is more than there are, since these left it open. None where no
    number up to 50 does, or where a wait never ended.
    """
    spread = np.asarray([*_deviations(before), *_deviations(after)])
    if not np.isfinite(spread).all():
        return None
    random = np.random.default_rng(_SEED)
    for n in _LADDER:
        if n <= min(len(before), len(after)):
            continue
        drawn = random.choice(spread, (2, _DRAWS, n))
        differences = (drawn[1][:, :, None] - drawn[0][:, None, :]).reshape(_DRAWS, n * n)
        differences.sort(axis=1)
        passes = _passes(differences, n, allowed, critical)
        fails = _fails(differences + 2 * critical, n, allowed)
        if min(passes, fails) >= POWER:
            return n
    return None


def _passes(differences: Floats, n: int, allowed: float, critical: float) -> float:
    rank = edge_rank(n, n, (1 - CONFIDENCE) / 2)
    within = (_middle(differences) <= allowed) & (differences[:, -rank] <= critical)
    return float(within.mean())


def _fails(differences: Floats, n: int, allowed: float) -> float:
    """How many are worse than allowed beyond chance: U counts the pairs that are not worse."""
    no_worse = (differences < 0).sum(axis=1) + 0.5 * (differences == 0).sum(axis=1)
    chance = null_below(n, n)[np.ceil(no_worse).astype(int)]
    return float(((_middle(differences) > allowed) & (chance <= _TAIL)).mean())


def _middle(ranked: Floats) -> Floats:
    count = ranked.shape[1]
    return np.asarray((ranked[:, (count - 1) // 2] + ranked[:, count // 2]) / 2)


def _deviations(values: Sequence[float]) -> Floats:
    numbers = np.asarray(values, float)
    middle = median(values)
    if middle is None or math.isinf(middle):
        return np.asarray([math.nan])
    return np.asarray(numbers - middle, dtype=np.float64)
