"""Perseus' definitions (github.com/rystsov/perseus), computed from our own runs. Pure.

Perseus has a loop on every node and counts, in whole seconds, how many of the loops succeed. Our
load chooses its node by itself, so what is looked at is all of it: a second is *down* in which
nothing that was due was served, *partial* if less than 99 % was, and steady otherwise. The lane of
the old primary alone would never be steady again where another node took over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from brownout.base.errors import BrownoutError
from brownout.measure.impact import NEVER
from brownout.run.series import read_series
from brownout.run.table import BUCKETS_PER_S
from brownout.runs.finished import FinishedRun

__all__ = ["NAMES", "Perseus", "perseus", "perseus_of"]

#: Below this share of what was due a second is partial: what a dip is in docs/measures.md.
_STEADY = 0.99
#: So many steady seconds in a row end a disturbance.
_IN_A_ROW = 3
NAMES = {
    "down": "downtime on isolation",
    "partial": "partial downtime on isolation",
    "disturbance": "disturbance time",
    "down_return": "downtime on recovery",
    "partial_return": "partial downtime on recovery",
    "recovery": "recovery time",
}


@dataclass(frozen=True, slots=True)
class Perseus:
    """Whole seconds. What never became steady is `NEVER`; None where no node was mended."""

    down: float
    partial: float
    disturbance: float
    down_return: float | None = None
    partial_return: float | None = None
    recovery: float | None = None


def perseus(
    due: Sequence[int], served: Sequence[int], effective: float, mended: float | None
) -> Perseus:
    """Compute them from what was due and served in each second.

    `effective` is when the fault took effect and `mended` when connectivity was restored, or the
    node started again, in seconds.
    """
    shares = [s / d if d else None for d, s in zip(due, served, strict=True)]
    first = floor(effective)
    back = len(shares) if mended is None else min(len(shares), ceil(mended))
    down, partial, disturbance = _until_steady(shares[first:back])
    if mended is None:
        return Perseus(down, partial, disturbance)
    return Perseus(down, partial, disturbance, *_until_steady(shares[back:]))


def perseus_of(run: FinishedRun) -> Perseus | None:
    """Compute them of a run's first fault; None where none took effect or no series was kept."""
    fault = next(iter(run.impact.effective_faults), None)
    if fault is None or fault.effective is None:
        return None
    try:
        outcomes = read_series(run.path).outcomes
    except BrownoutError:
        return None
    due, served = (_by_second(outcomes.total("total", name).tolist()) for name in ("offered", "ok"))
    mends = [e.requested for e in fault.events if e.type == "mend" and e.requested is not None]
    if not due:
        return None
    return perseus(due, served, fault.effective, min(mends, default=None))


def _by_second(buckets: Sequence[int]) -> list[int]:
    """Add buckets up to whole seconds; the last, partial one is left out."""
    whole = len(buckets) // BUCKETS_PER_S
    return [int(sum(buckets[n * BUCKETS_PER_S : (n + 1) * BUCKETS_PER_S])) for n in range(whole)]


def _until_steady(shares: Sequence[float | None]) -> tuple[float, float, float]:
    """Return the seconds that are down, that are partial, and until it is steady."""
    down = partial = 0
    for n, share in enumerate(shares):
        if _is_steady(shares[n : n + _IN_A_ROW]):
            return float(down), float(partial), float(n)
        down += share == 0
        partial += share is not None and 0 < share < _STEADY
    return float(down), float(partial), NEVER


def _is_steady(shares: Sequence[float | None]) -> bool:
    return len(shares) == _IN_A_ROW and all(s is None or s >= _STEADY for s in shares)
