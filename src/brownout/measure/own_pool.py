"""What ended while it waited for a slot or a connection of our own, and not for the database."""

from brownout.measure.data import RunData
from brownout.measure.signal import bucket_range
from brownout.measure.view import View
from brownout.run.table import BUCKETS_PER_S, bucket_of, in_scope

__all__ = ["OWN_POOL", "own_pool_operations", "own_pool_time"]

#: The causes: no slot in the generator's lane, no free connection in the client's pool.
OWN_POOL = ("no-slot", "pool-exhausted")


def own_pool_operations(view: View, data: RunData) -> int:
    """Return how many operations ended so."""
    return sum(_by_bucket(view, data).values())


def own_pool_time(view: View, data: RunData) -> float:
    """Return for how long operations ended so: the buckets with one that did, in seconds."""
    return len(_by_bucket(view, data)) / BUCKETS_PER_S


def _by_bucket(view: View, data: RunData) -> dict[int, int]:
    here = bucket_range(view.start, view.end, len(view.signal.errors))
    counts: dict[int, int] = {}
    for row in data.errors:
        bucket = bucket_of(row.t)
        ours = row.cause in OWN_POOL and in_scope(view.signal.scope, (row.stream, row.op))
        if ours and here.start <= bucket < here.stop:
            counts[bucket] = counts.get(bucket, 0) + row.n
    return counts
