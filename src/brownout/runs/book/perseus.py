"""Perseus' definitions (github.com/rystsov/perseus), computed from our own runs. Pure.

Perseus has a loop on every node and counts, in whole seconds, how many of the loops succeed. Our
load chooses its node by itself, so what is looked at is all of it: a second is *down* in which
nothing was answered in time, else *partial* if less than 99 % of what was due in it was served, and
steady otherwise. The lane of the old primary alone would never be steady again where another node
took over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from brownout.base.errors import BrownoutError
from brownout.measure.impact import NEVER
from brownout.run.series import read_series
from brownout.run.table import BUCKETS_PER_S
from brownout.runs.run_set import FinishedRun

__all__ = ["NAMES", "Perseus", "perseus", "perseus_of"]

#: Below this share of what was due a second is partial: what a dip is in docs/measures.md.
_STEADY = 0.99
#: So many steady seconds in a row end a disturbance; fewer where the node's return cuts them short.
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
    """Whole seconds. `NEVER` if not steady in time; None if no node was restored."""

    down: float
    partial: float
    disturbance: float
    down_return: float | None = None
    partial_return: float | None = None
    recovery: float | None = None


def perseus(
    due: Sequence[int],
    served: Sequence[int],
    answered: Sequence[int],
    effective: float,
    mended: float | None,
) -> Perseus:
    """Compute them from counts in buckets of 0.1 s since the schedule's start.

    `due` and `served` are by intended start, `answered` counts successes by completion. The fault
    took effect at `effective`, and connectivity was restored, or the node started again, at
    `mended`; seconds are counted from either.
    """
    buckets = list(zip(due, served, answered, strict=False))
    first = floor(effective * BUCKETS_PER_S)
    back = len(buckets) if mended is None else floor(mended * BUCKETS_PER_S)
    down = _until_steady(buckets[first:back])
    return Perseus(*down) if mended is None else Perseus(*down, *_until_steady(buckets[back:]))


def perseus_of(run: FinishedRun) -> Perseus | None:
    """Compute them of a run's first fault; None where none took effect or no series was kept."""
    fault = next(iter(run.impact.effective_faults), None)
    if fault is None or fault.effective is None:
        return None
    try:
        series = read_series(run.path)
    except BrownoutError:
        return None
    due, served = (series.outcomes.total("total", name).tolist() for name in ("offered", "ok"))
    answered = series.completion.total("total", "ok").tolist()
    mends = [e.requested for e in fault.events if e.type == "mend" and e.requested is not None]
    if not due:
        return None
    return perseus(due, served, answered, fault.effective, min(mends, default=None))


def _until_steady(buckets: Sequence[tuple[int, int, int]]) -> tuple[float, float, float]:
    """Return the seconds that are down, that are partial, and until it is steady."""
    seconds = [
        [sum(counts) for counts in zip(*buckets[n : n + BUCKETS_PER_S], strict=True)]
        for n in range(0, len(buckets) - BUCKETS_PER_S + 1, BUCKETS_PER_S)
    ]
    steady = [s >= _STEADY * d and (a > 0 or not d) for d, s, a in seconds]
    down = partial = 0
    for n, (_, _, answered) in enumerate(seconds):
        if all(steady[n : n + _IN_A_ROW]):
            return float(down), float(partial), float(n)
        down += not answered
        partial += bool(answered) and not steady[n]
    return float(down), float(partial), NEVER
