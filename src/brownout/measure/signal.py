"""One scope of a load as plain arrays, a value a bucket of 0.1 s: what the measures work on."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from brownout.run.table import BUCKETS_PER_S, Series, added, in_scope

__all__ = [
    "Case",
    "Counts",
    "Floats",
    "Signal",
    "bucket_range",
    "runs",
    "signal_of",
    "sum_of",
    "trailing_rate",
]

#: Whole numbers, except for another tool's coarse series, whose rows are spread over buckets.
Counts = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
#: How what the generator missed is taken: as served in time, as not served and no error, as lost.
Case = Literal["best", "measured", "worst"]
#: Ends of what was sent and was not served in time.
_SENT_BAD = ("late", "failed", "in_doubt")


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """What one scope did, bucket by bucket since the schedule's start.

    By completion: `offered`, `ok`, `errors` (late, failed, in doubt, shed), `shed`, `missed` and
    `pending`. By intended start: `born` operations, `served` of them ok; these end earlier, since
    what has not ended has no outcome yet. Without a schedule (`open_loop` false) a success ratio
    means nothing, and only throughput is judged. `unsent` is what the best or the worst case
    supposes to have been served or lost, by intended start; None for what was measured, where
    `unborn` is what the generator missed, by intended start. Of a series that is `ok_only`, nothing
    is known of what was not served.
    """

    scope: str
    open_loop: bool
    offered: Counts
    ok: Counts
    errors: Counts
    shed: Counts
    missed: Counts
    pending: Counts
    born: Counts
    served: Counts
    unsent: Counts | None = None
    unborn: Counts | None = None
    ok_only: bool = False
    case: Case = "measured"

    @property
    def end(self) -> float:
        """Seconds until which all is known that a dip is judged by."""
        judged = self.served if self.open_loop else self.ok
        return min(len(judged), len(self.ok)) / BUCKETS_PER_S


def signal_of(
    series: Series, scope: str, case: Case = "measured", deadline_s: float = 1.0
) -> Signal:
    """Return the arrays of `scope`: total, read, write or a stream.

    The outcome of an operation that the generator missed is unknown. In the best case each
    was served when it was to start, in the worst each failed then. In the best case, what was under
    way while the generator stood still and ended badly when it resumed was served, too: its answer
    may have been there. Nothing is under way for longer than `deadline_s`.
    """
    done, born = series.completion, series.outcomes
    signal = Signal(
        scope=scope,
        open_loop=series.is_open(scope),
        offered=done.total(scope, "offered"),
        ok=done.total(scope, "ok"),
        errors=done.total(scope, "late", "failed", "in_doubt", "shed"),
        shed=done.total(scope, "shed"),
        missed=done.total(scope, "missed"),
        pending=done.total(scope, "pending"),
        born=born.total(scope, "offered"),
        served=born.total(scope, "ok"),
        ok_only=series.ok_only,
    )
    unsent = born.total(scope, "missed")
    if case == "measured":
        return replace(signal, unborn=unsent)
    if case == "worst":
        return _supposed(signal, unsent, case)
    begun, ended = _stood_still(series, scope, deadline_s)
    return _supposed(replace(signal, errors=signal.errors - ended), unsent + begun, case)


def _stood_still(series: Series, scope: str, deadline_s: float) -> tuple[Counts, Counts]:
    """Return what was under way when the generator stood still and ended badly when it resumed: by
    intended start and by completion. Where it stood still it missed operations, and it books them
    when it resumes."""
    done, born = series.completion, series.outcomes
    begun, ended = np.zeros(len(born), np.int64), np.zeros(len(done), np.int64)
    booked = done.total("total", "missed") > 0
    chosen = [j for j, key in enumerate(series.keys) if in_scope(scope, key)]
    before = int(np.ceil(deadline_s * BUCKETS_PER_S))
    for first, end in runs(born.total("total", "missed") > 0, 1):
        goes_on = np.flatnonzero(booked[first : end + 3]) + first
        wakes = np.unique(np.concatenate((goes_on, goes_on + 1)))
        wakes = wakes[wakes < len(done)]
        starts = np.arange(max(0, first - before), min(end + 1, len(born)))[::-1]
        for j in chosen:
            bad_done = added(done.columns[name][wakes, j] for name in _SENT_BAD)
            bad_born = added(born.columns[name][starts, j] for name in _SENT_BAD)
            count = min(int(np.sum(bad_done)), int(np.sum(bad_born)))
            begun[starts] += _first(bad_born, count)
            ended[wakes] += _first(bad_done, count)
    return begun, ended


def _first(counts: Counts, most: int) -> Counts:
    """Return as much of `counts`, in their order, as makes `most` together."""
    sums = np.minimum(np.cumsum(counts), most)
    return np.asarray(np.diff(sums, prepend=0))


def _supposed(signal: Signal, unsent: Counts, case: Case) -> Signal:
    """Return a scope in which each operation of `unsent` was served, or lost."""
    begun = np.zeros(len(signal.ok), unsent.dtype)
    both = min(len(begun), len(unsent))
    begun[:both] = unsent[:both]
    waiting = np.cumsum(begun - signal.missed)
    none_missed = replace(
        signal, missed=np.zeros_like(signal.missed), unsent=unsent, case=case,
        pending=np.maximum(0, signal.pending - waiting),
    )  # fmt: skip
    if case == "best":
        return replace(none_missed, ok=signal.ok + begun, served=signal.served + unsent)
    return replace(none_missed, errors=signal.errors + begun)


def bucket_range(start: float, end: float, buckets: int) -> slice:
    """Return the buckets that overlap [start, end) seconds, of `buckets` that there are."""
    first = max(0, int(np.floor(start * BUCKETS_PER_S + 1e-6)))
    last = min(buckets, int(np.ceil(end * BUCKETS_PER_S - 1e-6)))
    return slice(min(first, buckets), max(first, last))


def sum_of(counts: Counts) -> float:
    """Return the sum of counts, a whole number where they are."""
    total = round(float(counts.sum()), 6)
    return int(total) if total.is_integer() else total


def trailing_rate(ok: Counts) -> Floats:
    """Return T: ok per second as the mean of the last second, one value a bucket's end.

    The first 0.9 s have no whole second behind them and are NaN.
    """
    rate = np.full(len(ok), np.nan)
    if len(ok) >= BUCKETS_PER_S:
        sums = np.cumsum(ok, dtype=np.float64)
        rate[BUCKETS_PER_S - 1] = sums[BUCKETS_PER_S - 1]
        rate[BUCKETS_PER_S:] = sums[BUCKETS_PER_S:] - sums[:-BUCKETS_PER_S]
    return rate


def runs(mask: npt.NDArray[np.bool_], gap: int = 0) -> list[tuple[int, int]]:
    """Return the stretches of true buckets as [first, end); gaps of up to `gap` are closed."""
    edges = np.diff(np.concatenate(([0], mask.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    joined: list[tuple[int, int]] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if joined and start - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
