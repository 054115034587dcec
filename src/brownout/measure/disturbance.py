"""What the return of a node cost: it may cost more than its absence."""

from brownout.measure.data import RunData
from brownout.measure.view import View
from brownout.run.table import BUCKETS_PER_S, bucket_of

__all__ = ["return_disturbance"]


def return_disturbance(view: View, data: RunData) -> float | None:
    """Return the length of all dips that began after a node was started or resumed, in seconds.

    None where the fault had no mend. The first mend's bucket counts whole; a dip that began
    before belongs to the fault.
    """
    mends = [
        event.requested
        for event in data.events
        if event.type == "mend"
        and event.requested is not None
        and view.start <= event.requested < view.end
    ]
    if not mends:
        return None
    since = bucket_of(min(mends)) / BUCKETS_PER_S
    return sum(dip.length for dip in view.dips if dip.start >= since)
