"""Every measure that a limit can be set on: its unit, and which side of the limit is good."""

import re
from dataclasses import dataclass

from brownout.measure.data import TimeAbove

__all__ = ["AT_LEAST", "AT_MOST", "PLAIN", "Measure", "find", "known", "time_above_of"]

AT_MOST = "at_most"
AT_LEAST = "at_least"

#: Unit of a measure -> what a limit may be written in, and how many of the unit that is.
UNITS = {
    "ratio": {"ratio": 1.0, "%": 0.01},
    "s": {"s": 1.0, "ms": 0.001, "min": 60.0},
    "us": {"us": 1.0, "ms": 1e3, "s": 1e6},
    "operations": {"operations": 1.0},
    "writes": {"writes": 1.0},
    "records": {"records": 1.0},
    "records/s": {"records/s": 1.0},
    "bytes": {"bytes": 1.0, "MB": 1e6, "GB": 1e9},
    "bytes/s": {"bytes/s": 1.0, "MB/s": 1e6},
}

_PERCENTILES = {"p50": 0.50, "p99": 0.99, "p999": 0.999, "max": 1.0}
_LATENCY = re.compile(r"latency(_all)?\.(before|during|after)\.(p50|p99|p999|max)_us")
_TIME_ABOVE = re.compile(r"time_above\.((p50|p99|p999|max)_([1-9]\d{0,8})(us|ms|s))")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure by its name in impact.json; dots lead into it: `latency.during.p99_us`.

    `per_scope` is false for what the whole cluster is measured by.
    """

    name: str
    unit: str
    direction: str = AT_MOST
    per_scope: bool = True


#: The measures that have no parts, by name.
PLAIN = {
    measure.name: measure
    for measure in (
        Measure("tps_drop", "ratio"),
        Measure("tps_drop_100ms", "ratio"),
        Measure("tps_drop_at_resolution", "ratio"),
        Measure("mean_drop", "ratio"),
        Measure("worst_second", "ratio", AT_LEAST),
        Measure("degraded_time", "s"),
        Measure("blackout", "s"),
        Measure("longest_blackout", "s"),
        Measure("recovery_time", "s"),
        Measure("settled_time", "s"),
        Measure("lost_operations", "operations"),
        Measure("lost_seconds", "s"),
        Measure("errors", "operations"),
        Measure("errors_after_retry", "operations"),
        Measure("availability", "ratio", AT_LEAST),
        Measure("availability_run", "ratio", AT_LEAST),
        Measure("rejoin_time", "s", per_scope=False),
        Measure("rejoin_time_after_start", "s", per_scope=False),
        Measure("redundancy_time", "s", per_scope=False),
        Measure("redundancy_time_after_start", "s", per_scope=False),
        Measure("rebalance_time", "s", per_scope=False),
        Measure("records_moved", "records", per_scope=False),
        Measure("records_moved_per_s", "records/s", AT_LEAST, per_scope=False),
        Measure("bytes_moved", "bytes", per_scope=False),
        Measure("bytes_moved_per_s", "bytes/s", AT_LEAST, per_scope=False),
        Measure("throughput_while_moving", "ratio", AT_LEAST, per_scope=False),
        Measure("capacity_ratio", "ratio", AT_LEAST, per_scope=False),
        Measure("lost_writes", "writes", per_scope=False),
        Measure("decay", "ratio"),
    )
}


def find(name: str) -> Measure | None:
    """Return the measure of this name; None if there is none."""
    if name in PLAIN:
        return PLAIN[name]
    if _LATENCY.fullmatch(name):
        return Measure(name, "us")
    return Measure(name, "s") if _TIME_ABOVE.fullmatch(name) else None


def known() -> list[str]:
    """Return the names of all measures, the families as patterns; for messages and docs."""
    return [
        *PLAIN,
        "latency.<before|during|after>.<p50|p99|p999|max>_us",
        "latency_all.<before|during|after>.<p50|p99|p999|max>_us",
        "time_above.<p50|p99|p999|max>_<limit, e.g. 10ms>",
    ]


def time_above_of(name: str) -> TimeAbove | None:
    """Return what `time_above.p99_10ms` asks for; None for any other measure."""
    found = _TIME_ABOVE.fullmatch(name)
    if found is None:
        return None
    limit_us = int(found[3]) * int(UNITS["us"][found[4]])
    return TimeAbove(found[1], _PERCENTILES[found[2]], limit_us)
