"""Time in which nothing was served although something was wanted, and what only looked like it.

By intended start, at any rate: an unbroken row of operations that did not succeed in time, from
the first of them to the first that did. By completion: no success comes in while so many are to be
expected. Such a silence is part of an outage if it overlaps a row: what began shortly before the
end was served in time, but nothing was served until then. Where all that was wanted during a
silence succeeded in time, it was a stall and not an outage.

Reads and writes are looked at apart as well, and the longer outage counts: a primary that is cut
off and still serves reads would hide that no write succeeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Signal, bucket_range, runs
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Blackout", "Stretch", "blackout_of", "joined", "silences", "worst_blackout"]

#: From and to, in buckets; parts of buckets count in part.
Stretch = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Blackout:
    """Seconds without a single `ok`: all together, the longest stretch, and from when to when that
    was, in seconds since t0 (None without one). `stretches` are all of them, likewise.

    `op` is `read` or `write` where the other was served for a part of the longest, else None.
    `stall` is the longest silence after which all was served in time; None where no intended
    starts are known.
    `resolution` is the time between two operations: a stretch may begin or end so much later.
    """

    total: float
    longest: float
    longest_at: tuple[float, float] | None
    resolution: float
    stretches: tuple[tuple[float, float], ...] = ()
    stall: float | None = None
    op: str | None = None


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
    silent = silences(signal.ok[here], wanted, usual, level.tps, settings)
    rows = list(_unserved(signal.born[born], signal.served[born]))
    stalls = [] if signal.ok_only else [each for each in silent if not _overlaps(each, rows)]
    stretches = joined([*rows, *(each for each in silent if each not in stalls)])
    longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0], default=None)
    stall = max((last - first for first, last in stalls), default=0.0) / BUCKETS_PER_S
    return Blackout(
        total=sum(last - first for first, last in stretches) / BUCKETS_PER_S,
        longest=0.0 if longest is None else (longest[1] - longest[0]) / BUCKETS_PER_S,
        longest_at=None if longest is None else _seconds(here.start, longest),
        resolution=1 / (level.offered or level.tps),
        stretches=tuple(_seconds(here.start, each) for each in stretches),
        stall=None if signal.ok_only else stall,
    )


def worst_blackout(whole: Blackout | None, parts: Mapping[str, Blackout | None]) -> Blackout | None:
    """Return the blackout of a scope whose reads and writes had those of `parts`.

    Of total and longest the longest of all counts; nothing finer can be seen than in the slowest.
    """
    if whole is None:
        return None
    by_op: dict[str | None, Blackout] = {None: whole}
    by_op |= {op: each for op, each in parts.items() if each is not None}
    op = max(by_op, key=lambda name: (by_op[name].longest, name is None))
    every = [(a * BUCKETS_PER_S, b * BUCKETS_PER_S) for e in by_op.values() for a, b in e.stretches]
    stalls = [each.stall for each in by_op.values() if each.stall is not None]
    longer_by = by_op[op].longest - whole.longest
    return Blackout(
        total=max(each.total for each in by_op.values()),
        longest=by_op[op].longest,
        longest_at=by_op[op].longest_at,
        resolution=max(each.resolution for each in by_op.values()),
        stretches=tuple(_seconds(0, each) for each in joined(every)),
        stall=max(stalls, default=None),
        op=op if longer_by > max(1 / BUCKETS_PER_S, by_op[op].resolution) + 1e-9 else None,
    )


def silences(
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


def joined(stretches: Iterable[Stretch], gap: float = 0.0) -> list[Stretch]:
    """Join stretches that overlap, touch, or are at most `gap` apart."""
    merged: list[Stretch] = []
    for first, last in sorted(stretches):
        if merged and first <= merged[-1][1] + gap + 1e-9:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _unserved(born: Counts, served: Counts) -> Iterable[Stretch]:
    """Yield the rows of operations that did not succeed, from intended start to intended start."""
    any_born = born > 1e-9
    share = 1.0 - np.divide(served, born, out=np.ones(len(born)), where=any_born)
    return ((first, last) for first, last, _ in _dark(any_born, served < 1e-9, share))


def _overlaps(stretch: Stretch, others: Sequence[Stretch]) -> bool:
    return any(first < stretch[1] - 1e-9 and stretch[0] < last - 1e-9 for first, last in others)


def _seconds(since: int, stretch: Stretch) -> tuple[float, float]:
    """Return when a stretch that is counted from bucket `since` began and ended, since t0."""
    return ((since + stretch[0]) / BUCKETS_PER_S, (since + stretch[1]) / BUCKETS_PER_S)


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
