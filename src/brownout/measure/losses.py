"""What was not served: operations lost, errors, availability, the worst second.

Also the share of an error budget that this costs, and what waited for a slot or a connection of our
own and not for the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from brownout.measure.data import RunData
from brownout.measure.level import ok_between
from brownout.measure.signal import Counts, Signal, bucket_range, sum_of
from brownout.measure.view import View
from brownout.run.table import BUCKETS_PER_S, Table, bucket_of, in_scope

__all__ = [
    "Losses",
    "availability",
    "budget_share",
    "failed_operations",
    "in_doubt_operations",
    "losses_of",
    "lost_operations",
    "own_pool_operations",
    "own_pool_time",
    "worst_second",
]

OPEN_METHOD = "offered less ok, by intended start"
CLOSED_METHOD = "baseline less ok, over the dips"
_BAD = ("late", "failed", "in_doubt", "shed")
_DAY_S = 86_400
#: The causes: no slot in the generator's lane, no free connection in the client's pool.
_OWN_POOL = ("no-slot", "pool-exhausted")


@dataclass(frozen=True, slots=True)
class Losses:
    """Operations, seconds of the baseline's throughput, and ratios.

    `errors` counts operations that were late, failed, in doubt or shed, by cause. What is judged
    by intended start (`availability`, `worst_second`) is None in closed loop;
    `errors_after_retry` is None unless a stream retries once.
    """

    worst_second: float | None
    lost_operations: float | None
    lost_seconds: float | None
    lost_method: str
    errors: dict[str, int]
    errors_after_retry: int | None
    availability: float | None
    availability_run: float | None


def losses_of(view: View, data: RunData) -> Losses:
    """Return what the episode cost one scope."""
    signal, tps = view.signal, view.level.tps
    lost = lost_operations(view)
    return Losses(
        worst_second=worst_second(signal, view.start, view.end),
        lost_operations=lost,
        lost_seconds=lost / tps if lost is not None and tps else None,
        lost_method=OPEN_METHOD if signal.open_loop else CLOSED_METHOD,
        errors=_errors(view, data),
        errors_after_retry=_errors_after_retry(view, data),
        availability=availability(signal, view.start, view.end),
        availability_run=availability(signal, 0.0, data.end),
    )


def lost_operations(view: View) -> float | None:
    """Return how many operations the episode cost.

    Open loop: offered less ok, by intended start. Closed loop: what B would have served in each
    dip less what was served; outside the dips the integral would only add up noise.
    """
    signal, tps = view.signal, view.level.tps
    if signal.open_loop:
        here = bucket_range(view.start, view.end, len(signal.born))
        return sum_of(signal.born[here] - signal.served[here])
    if not tps:
        return None
    served = ((dip.length, ok_between(signal.ok, dip.start, dip.end)) for dip in view.dips)
    return float(sum(max(0.0, tps * length - ok) for length, ok in served))


def availability(signal: Signal, start: float, end: float) -> float | None:
    """Return ok/offered by intended start; None in closed loop or where nothing was offered."""
    here = bucket_range(start, end, len(signal.born))
    offered = sum_of(signal.born[here])
    return sum_of(signal.served[here]) / offered if signal.open_loop and offered else None


def worst_second(signal: Signal, start: float, end: float) -> float | None:
    """Return the lowest ok/offered by intended start over any second; None in closed loop."""
    here = bucket_range(start, end, len(signal.born))
    offered, ok = _second_sums(signal.born[here]), _second_sums(signal.served[here])
    busy = offered > 0
    return float((ok[busy] / offered[busy]).min()) if signal.open_loop and busy.any() else None


def failed_operations(view: View, data: RunData) -> int:
    """Return the operations that ended in failure and are known to have had no effect."""
    return _ended(view, data, "failed")


def in_doubt_operations(view: View, data: RunData) -> int:
    """Return the operations that ended in doubt: it is unknown whether they took effect."""
    return _ended(view, data, "in_doubt")


def _ended(view: View, data: RunData, end: str) -> int:
    """Count an end by completion. What the best or the worst case takes from all errors, or adds to
    them, may all be of this end."""
    done, scope = data.series.completion, view.signal.scope
    here = bucket_range(view.start, view.end, len(view.signal.errors))
    supposed = view.signal.errors[here] - done.total(scope, *_BAD, here=here)
    return max(0, round(sum_of(done.total(scope, end, here=here)) + sum_of(supposed)))


def _errors(view: View, data: RunData) -> dict[str, int]:
    """Return errors by cause, most frequent first; those without one are `unattributed`."""
    here = bucket_range(view.start, view.end, len(view.signal.errors))
    first, last = here.start / BUCKETS_PER_S - 1e-6, here.stop / BUCKETS_PER_S - 1e-6
    causes: dict[str, int] = {}
    for row in data.errors:
        if first <= row.t < last and in_scope(view.signal.scope, (row.stream, row.op)):
            causes[row.cause] = causes.get(row.cause, 0) + row.n
    rest = round(sum_of(view.signal.errors[here])) - sum(causes.values())
    if rest > 0 or (rest and view.signal.case == "best"):
        causes["unattributed"] = rest
    return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))


def _errors_after_retry(view: View, data: RunData) -> int | None:
    """Return the errors of the streams that retry once: with those, no error is a first try's."""
    once = {stream.name for stream in data.streams if stream.retries == "once"}
    errors = _errors_of(data.series.completion, view.signal.scope, once, _BAD)
    if errors is None:
        return None
    count = sum_of(errors[bucket_range(view.start, view.end, len(errors))])
    unsent = _errors_of(data.series.outcomes, view.signal.scope, once, ("missed",))
    if view.signal.case == "worst" and unsent is not None:
        count += sum_of(unsent[bucket_range(view.start, view.end, len(unsent))])
    return round(count)


def _errors_of(table: Table, scope: str, streams: set[str], names: Sequence[str]) -> Counts | None:
    """Return what so ended of those keys of `scope` that belong to `streams`; None without any."""
    chosen = [j for j, key in enumerate(table.keys) if in_scope(scope, key) and key[0] in streams]
    if not chosen:
        return None
    ends = [table.columns[name][:, chosen] for name in names]
    return np.asarray(sum(end.sum(axis=1) for end in ends))


def _second_sums(counts: Counts) -> Counts:
    if len(counts) < BUCKETS_PER_S:
        return counts[:0]
    return np.convolve(counts, np.ones(BUCKETS_PER_S, np.int64), mode="valid")


def budget_share(view: View, data: RunData) -> float | None:
    """Return the operations lost ÷ those that may fail in `budget_days` at the baseline's rate.

    An objective of 99.95 % over 30 days at 800 operations a second allows 1,036,800 failures: a
    fault that costs 1,520 uses 0.15 % of them. None where nothing is known of the loss or rate.
    """
    lost, settings = lost_operations(view), data.settings
    rate = view.level.offered or view.level.tps
    if lost is None or not rate:
        return None
    return lost / ((1 - settings.budget_objective) * rate * settings.budget_days * _DAY_S)


def own_pool_operations(view: View, data: RunData) -> int:
    """Return how many operations ended as they waited for a slot or connection of our own."""
    return sum(_in_own_pool(view, data).values())


def own_pool_time(view: View, data: RunData) -> float:
    """Return for how long operations ended so: the buckets with one that did, in seconds."""
    return len(_in_own_pool(view, data)) / BUCKETS_PER_S


def _in_own_pool(view: View, data: RunData) -> dict[int, int]:
    here = bucket_range(view.start, view.end, len(view.signal.errors))
    counts: dict[int, int] = {}
    for row in data.errors:
        bucket = bucket_of(row.t)
        ours = row.cause in _OWN_POOL and in_scope(view.signal.scope, (row.stream, row.op))
        if ours and here.start <= bucket < here.stop:
            counts[bucket] = counts.get(bucket, 0) + row.n
    return counts
