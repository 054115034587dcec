"""How long less than half of the operations were served in time, by intended start."""

from brownout.measure import Measure, RunData, Unit, View
from brownout.measure.unit import SECONDS


def half_served_time(view: View, data: RunData) -> float | None:
    """Return seconds; None in closed loop, where nothing has an intended start."""
    if not view.signal.open_loop:
        return None
    here = slice(round(10 * view.start), round(10 * view.end))  # a bucket is 0.1 s
    offered, served = view.signal.born[here], view.signal.served[here]
    return float(((offered > 0) & (2 * served < offered)).sum()) / 10


MEASURE = Measure(
    name="half_served_time",
    unit=SECONDS,
    label="less than half served",
    main=True,
    anchor="https://example.org/half-served",
    of=half_served_time,
)


def half_served_buckets(view: View, data: RunData) -> float | None:
    """Return the same in buckets of 0.1 s."""
    seconds = half_served_time(view, data)
    return None if seconds is None else round(10 * seconds)


#: A unit that brownout does not know.
BUCKETS = Unit("buckets", {"s": 10.0}, words=lambda value, digits: f"{value:,.0f} buckets")
IN_BUCKETS = Measure(
    name="half_served_buckets",
    unit=BUCKETS,
    label="less than half served, in buckets",
    main=True,
    anchor="https://example.org/half-served",
    of=half_served_buckets,
)
