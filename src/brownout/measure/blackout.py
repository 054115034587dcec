"""Time in which nothing was served although something was wanted, and what only looked like it.

By intended start, at any rate: an unbroken row of operations that did not succeed in time, from
the first of them to the first that did. By completion: no success comes in while so many are to be
expected. Such a silence is part of an outage if it overlaps a row: what began shortly before the
end was served in time, but nothing was served until then. Where all that was wanted during a
silence succeeded in time, it was a stall and not an outage.

A row may be shorter than a bucket and share it with what was served before. So it is in
a closed loop, where nothing more starts until the deadline while all workers wait. Therefore a
silence is part of an outage, too, if what waited in it ended badly (`_hung`).

Reads and writes are looked at apart as well, and the longer outage counts: a primary that is cut
off and still serves reads would hide that no write succeeds.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Floats, Signal, bucket_range, runs
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Blackout", "Stretch", "blackout_of", "joined", "silences", "worst_blackout"]

#: Less than that is 0: counts of coarse rows are spread over buckets.
_ANY = 1e-3
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
    waiting = _waiting(signal)
    stalls = [each for each in silent
              if not signal.ok_only and not _overlaps(each, rows)
              and not _hung(each, here.start, waiting)]  # fmt: skip
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


def _waiting(signal: Signal) -> tuple[Floats, Floats]:
    """Return how many operations wait at each bucket's beginning that will succeed in time, and how
    many that will not, as far as it is known how all before it ended. What the generator missed
    did not wait for the database."""
    length = min(len(signal.born), len(signal.ok))
    born, served, ok = signal.born[:length], signal.served[:length], signal.ok[:length]
    sent = born if signal.unborn is None else born - signal.unborn[:length]
    changes = (served - ok, sent - served - signal.errors[:length])
    good, lost = (np.concatenate(([0.0], np.cumsum(each, dtype=np.float64))) for each in changes)
    return good, lost


def _hung(silence: Stretch, since: int, waiting: tuple[Floats, Floats]) -> bool:
    """Whether what waited in a silence, counted from bucket `since`, was not served in time.

    Either there was a moment at which more waited that ended badly than when the silence began, and
    nothing else; or what ended badly began to wait and ended with the silence, as where the first
    of what waited reached its deadline. Where some that waited succeeded and others kept failing,
    as while one of several servers is away, only the latter were without service.
    """
    first, last = math.ceil(silence[0]) + since, math.floor(silence[1]) + since
    good, lost = (np.where(each > _ANY, each, 0.0) for each in waiting)
    inside = slice(first, last + 1)
    before = lost[first - 1] if 0 < first <= len(lost) else 0.0
    all_lost = (lost[inside] > before + _ANY) & (good[inside] == 0.0)
    is_over = last + 1 < len(lost) and lost[last + 1] == before == 0.0
    return bool(all_lost.any() or (is_over and lost[inside].any()))


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
