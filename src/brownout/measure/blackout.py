"""Time in which nothing at all was served although something was wanted.

It is seen in two ways, and dark is what either sees. By intended start: an unbroken row of
operations that did not succeed, from the first of them to the first that did; this holds at any
rate. By completion: no success comes in while so many are to be expected; this also sees that
everybody waits though all succeed in the end, and is all that can be told from `ok` alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Signal, bucket_range, runs
from brownout.run.lanes import Lane
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Blackout", "blackout_of", "blackouts_by_lane"]

#: From and to, in buckets; parts of buckets count in part.
Stretch = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Blackout:
    """Seconds without a single `ok`: all together, and the longest stretch.

    `resolution` is the time between two operations: a stretch may begin or end so much later.
    """

    total: float
    longest: float
    resolution: float


def blackout_of(
    signal: Signal, level: Level, start: float, end: float, settings: MeasureSettings
) -> Blackout | None:
    """Return the blackout of a scope from `start` to `end`; None without a baseline."""
    if not level.tps:
        return None
    here = bucket_range(start, end, len(signal.ok))
    wanted = (signal.offered[here] > 0) | (signal.pending[here] > 0)
    born = bucket_range(start, end, len(signal.born))
    # In open loop a bucket is held against what it was offered: its rate may not be that of B.
    usual = signal.offered[here] if signal.open_loop else level.tps / BUCKETS_PER_S
    stretches = _joined(
        [
            *_silent(signal.ok[here], wanted, usual, level.tps, settings),
            *_unserved(signal.born[born], signal.served[born]),
        ]
    )
    lengths = [(last - first) / BUCKETS_PER_S for first, last in stretches]
    return Blackout(sum(lengths), max(lengths, default=0.0), 1 / (level.offered or level.tps))


def blackouts_by_lane(
    lanes: Mapping[str, Lane],
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
) -> Mapping[str, float]:
    """Return the longest blackout of each lane that had a level in the baseline, in seconds.

    A lane that came up later, such as a new primary, has nothing to be expected of it.
    """
    found = {}
    for name, lane in sorted(lanes.items()):
        ok = lane["ok"]
        before, during = (bucket_range(*window, len(ok)) for window in (baseline, episode))
        tps = float(ok[before].mean()) * BUCKETS_PER_S if before.stop > before.start else 0.0
        if tps and during.stop > during.start:
            wanted = (lane["offered"][during] > 0) | (lane["pending"][during] > 0)
            stretches = _silent(ok[during], wanted, tps / BUCKETS_PER_S, tps, settings)
            lengths = ((last - first) / BUCKETS_PER_S for first, last in stretches)
            found[name] = max(lengths, default=0.0)
    return found


def _silent(
    ok: Counts,
    wanted: npt.NDArray[np.bool_],
    usual: Counts | float,
    tps: float,
    settings: MeasureSettings,
) -> list[Stretch]:
    """Return the stretches in which `blackout_operations` or more were to be expected and none
    came in; the part by which the buckets beside them served less than `usual` is dark, too."""
    share = np.clip(1.0 - ok / np.maximum(usual, 1e-9), 0.0, 1.0) * wanted
    return [
        (first, last)
        for first, last, whole in _dark(wanted | (ok > 1e-9), ok < 1e-9, share)
        if tps * whole / BUCKETS_PER_S >= settings.blackout_operations - 1e-6
    ]


def _unserved(born: Counts, served: Counts) -> list[Stretch]:
    """Return the rows of operations that did not succeed, from intended start to intended start."""
    any_born = born > 1e-9
    share = 1.0 - np.divide(served, born, out=np.ones(len(born)), where=any_born)
    return [(first, last) for first, last, _ in _dark(any_born, served < 1e-9, share)]


def _dark(
    counted: npt.NDArray[np.bool_], dark: npt.NDArray[np.bool_], share: npt.NDArray[np.float64]
) -> Iterable[tuple[float, float, int]]:
    """Yield each unbroken row of dark buckets among those that are counted, as (from, to, whole
    buckets); of the buckets beside it `share` is dark, which counts for one row only."""
    places = np.flatnonzero(counted)
    lit = -1
    for first, end in runs(dark[places]):
        begin = int(places[first])
        last = int(places[end]) if end < len(places) else int(places[end - 1]) + 1
        whole = last - begin
        before = float(share[places[first - 1]]) if first > 0 and places[first - 1] != lit else 0.0
        after = float(share[last]) if end < len(places) else 0.0
        since = int(places[first - 1]) + 1 if before else begin
        yield since - before, last + after, whole
        lit = last


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Join stretches that overlap or touch."""
    joined: list[Stretch] = []
    for first, last in sorted(stretches):
        if joined and first <= joined[-1][1] + 1e-9:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
