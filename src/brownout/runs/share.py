"""In what share of all runs something happens, as far as a few runs can tell. Pure.

Exact (Clopper and Pearson 1934): of 5 runs in which it never happened, it may happen in 45 %.
"""

from collections.abc import Callable
from math import comb

__all__ = ["excluded_words", "share", "share_words"]

_TAIL = 0.05


def share(seen: int, runs: int) -> tuple[float, float]:
    """Return between what the share lies with 95 % confidence; seen in `seen` of `runs`.

    Where it was seen in none or in all, one end is known and the other one has all of the 5 %:
    the highest is then `1 - 0.05 ** (1 / runs)`.
    """
    if not 0 <= seen <= runs or not runs:
        raise ValueError(f"{seen} of {runs} runs")
    tail = _TAIL if seen in (0, runs) else _TAIL / 2
    low = _solved(lambda p: 1 - _at_most(seen - 1, runs, p), tail) if seen else 0.0
    high = _solved(lambda p: 1 - _at_most(seen, runs, p), 1 - tail) if seen < runs else 1.0
    return low, high


def share_words(seen: int, runs: int) -> str:
    """`0 of 5 runs; at most 45 % of runs with 95 % confidence`."""
    low, high = share(seen, runs)
    if not seen:
        between = f"at most {100 * high:.0f} %"
    elif seen == runs:
        between = f"at least {100 * low:.0f} %"
    else:
        between = f"{100 * low:.0f} % to {100 * high:.0f} %"
    return f"{seen} of {runs} runs; {between} of runs with 95 % confidence"


def excluded_words(runs: int) -> str:
    """Say what so many runs cannot exclude."""
    most = 100 * share(0, runs)[1]
    return (
        f"what none of {runs} runs showed may happen in up to {most:.0f} % of runs "
        "(95 % confidence)"
    )


def _at_most(seen: int, runs: int, p: float) -> float:
    """Return the chance of at most `seen` of `runs`, each with chance `p`."""
    return sum(comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(seen + 1))


def _solved(rising: Callable[[float], float], wanted: float) -> float:
    """Return where a rising function of a share has a value, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
