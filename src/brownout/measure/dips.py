"""Where a load was worse than it should be: dips, found in one of two ways.

By success ratio (open loop): fewer than 99 % ok of what was to start in a bucket. This has no
arrival noise, so its edges are good to 0.1 s even for a loss of 5 %. By throughput (closed loop,
or where only `ok` is known): T below (1 - theta)B. The trailing mean alone would make an outage
of 0.5 s look 1.4 s long, so the edges of a deep dip are taken from its buckets.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.measure.level import Level, drop
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Signal, runs, trailing_rate
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Dip", "clip", "dip_method", "find_dips"]

#: A smaller share of B is nothing at all; sums of floats do not give 0.
_NOTHING = 1e-4
BY_RATIO = "success ratio by intended start"
BY_THROUGHPUT = "throughput below the baseline"


@dataclass(frozen=True, slots=True)
class Dip:
    """A stretch of bad service from `start` to `end`, in seconds since the schedule's start."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start


def dip_method(signal: Signal) -> str:
    """Return the way in which the dips of a scope are found, as a result says it."""
    return BY_RATIO if signal.open_loop else BY_THROUGHPUT


def find_dips(signal: Signal, level: Level, settings: MeasureSettings) -> list[Dip]:
    """Return every dip of a scope, in order, by the way that its loop allows."""
    gap = round(settings.dip_gap_s * BUCKETS_PER_S)
    if signal.open_loop:
        bad = below_ratio(signal.born, signal.served, settings)
        return [Dip(a / BUCKETS_PER_S, b / BUCKETS_PER_S) for a, b in runs(bad, gap)]
    return _throughput_dips(signal.ok, level, gap)


def clip(dips: list[Dip], start: float, end: float) -> list[Dip]:
    """Return the parts of `dips` between `start` and `end`."""
    inside = (Dip(max(dip.start, start), min(dip.end, end)) for dip in dips)
    return [dip for dip in inside if dip.length > 1e-9]


def below_ratio(born: Counts, served: Counts, settings: MeasureSettings) -> npt.NDArray[np.bool_]:
    """Return the buckets with a success ratio below `dip_ratio`.

    Buckets are pooled until `dip_operations` were to start, so that a single failure among few
    is judged as part of enough. Within a bad pool only what lies from its first to its last
    bucket with a failure is bad.
    """
    bad = np.zeros(len(born), np.bool_)
    firsts = _pools(born, settings.dip_operations)
    if not len(firsts):
        return bad
    ends = np.append(firsts[1:], len(born))
    offered, ok = np.add.reduceat(born, firsts), np.add.reduceat(served, firsts)
    for pool in np.flatnonzero(ok < settings.dip_ratio * offered - 1e-6).tolist():
        first, end = firsts[pool], ends[pool]
        failing = first + np.flatnonzero(served[first:end] < born[first:end] - 1e-6)
        bad[failing[0] : failing[-1] + 1] = True
    return bad


def _pools(born: Counts, minimum: int) -> npt.NDArray[np.int64]:
    """Return where each pool begins: consecutive buckets in which at least `minimum` were to start.

    What is left over at the end joins the last pool.
    """
    if len(born) and born.min() >= minimum:
        return np.arange(len(born))
    firsts: list[int] = []
    begin, total = 0, 0.0
    for number, count in enumerate(born.tolist()):
        total += count
        if total >= minimum - 1e-6:
            firsts.append(begin)
            begin, total = number + 1, 0.0
    return np.array(firsts or [0][: len(born)], np.int64)


def _throughput_dips(ok: Counts, level: Level, gap: int) -> list[Dip]:
    """Find dips in T, then correct their edges for the second that T looks back."""
    if not level.tps:
        return []
    rates = trailing_rate(ok)
    # However noisy, a second without a single ok is a dip, unless the baseline had some.
    floor = (
        max(1 - level.theta_dip, _NOTHING if level.lowest > _NOTHING * level.tps else 0.0)
        * level.tps
    )
    dips = []
    for first, end in runs(rates < floor, gap):
        depth = drop(level.tps, float(np.nanmin(rates[first:end])))
        edges = _bucket_edges(ok, level, first, end) if depth > 2 * level.theta_bucket else None
        dips.append(edges or _crossing_edges(level, first, end, depth))
    return dips


def _bucket_edges(ok: Counts, level: Level, first: int, end: int) -> Dip | None:
    """Return a deep dip by its first and last low bucket; T in bucket i looks back to i - 9."""
    begin = max(0, first - BUCKETS_PER_S + 1)
    floor = (1 - level.theta_bucket) * level.tps
    low = begin + np.flatnonzero(ok[begin:end] * BUCKETS_PER_S < floor)
    if not len(low):
        return None
    return Dip(int(low[0]) / BUCKETS_PER_S, (int(low[-1]) + 1) / BUCKETS_PER_S)


def _crossing_edges(level: Level, first: int, end: int, depth: float) -> Dip:
    """Return a shallow dip by T's crossings, less the mean's lag.

    After a step down by `depth`, T needs the share theta/depth of a second to fall by theta; on
    the way back, the rest of it.
    """
    lag = min(1.0, level.theta_dip / depth)
    start = (first + 1) / BUCKETS_PER_S - lag
    return Dip(start, max(start + 1 / BUCKETS_PER_S, end / BUCKETS_PER_S - (1 - lag)))
