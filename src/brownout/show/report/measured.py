"""The measures of impact.json in words: their names for people, their values with units."""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.words import duration
from brownout.measure.names import AT_LEAST, find
from brownout.show.report.words import NOT_SEEN, between, data_size, number

__all__ = ["MEASURES", "MOVED", "NONE", "bound", "found", "has_scope", "name_of", "worded"]

#: What stands where there is nothing.
NONE = "–"

#: Every measure of an episode, in the order of docs/measures.md; `…` says more of the one before.
MEASURES = {
    "tps_drop": "throughput drop, lowest 1 s",
    "tps_drop_interval": "… 95 % interval",
    "tps_drop_sham": "… by chance alone (sham)",
    "tps_drop_100ms": "… lowest 0.1 s",
    "tps_drop_at_resolution": "… at the resolution asked for",
    "mean_drop": "mean drop over the dips",
    "worst_second": "worst second, served of offered",
    "time_to_impact": "effect to first dip",
    "degraded_time": "time degraded",
    "dips": "dips",
    "blackout": "blackout, in all",
    "longest_blackout": "longest blackout",
    "recovery_time": "service recovered",
    "settled_time": "last dip over",
    "lost_operations": "operations lost",
    "lost_seconds": "… in seconds of normal load",
    "errors": "errors",
    "errors_after_retry": "errors that one retry did not cure",
    "availability": "availability, served of offered",
    "availability_run": "… over the whole run",
    "rejoin_time": "rejoined",
    "rejoin_time_after_start": "… since the node's start",
    "redundancy_time": "redundancy restored",
    "redundancy_time_after_start": "… since the node's start",
    "rebalance_time": "nothing left to move",
    "records_moved": "records moved",
    "records_moved_per_s": "… a second",
    "bytes_moved": "data moved",
    "bytes_moved_per_s": "… a second",
    "throughput_while_moving": "throughput while moving, of before",
    "capacity_ratio": "capacity after, of before",
    "decay": "decay of one-minute means over the run",
}
#: Measures that have parts of their own.
FAMILIES = {
    "latency": "response time of what was served,",
    "latency_all": "response time of all operations,",
    "time_above": "time with",
}
#: Measures of a planned change; a fault has none of them.
MOVED = (
    "rebalance_time",
    "records_moved",
    "records_moved_per_s",
    "bytes_moved",
    "bytes_moved_per_s",
    "throughput_while_moving",
    "capacity_ratio",
)
#: A null in these means "did not happen", not "is not known".
WAITING = ("recovery_time", "settled_time", "rejoin_time", "redundancy_time")
RATIOS = ("tps_drop_sham", "tps_drop_interval")


def name_of(measure: str) -> str:
    """The name of a measure that stands by itself: `operations lost, in seconds of normal load`."""
    if measure == "lost_writes":
        return "acknowledged writes lost"
    kind, _, rest = measure.partition(".")
    if kind in FAMILIES:
        return (
            f"{FAMILIES[kind]} {rest.replace('.', ', ').replace('_us', '').replace('_', ' over ')}"
        )
    words = MEASURES.get(measure, measure.replace("_", " "))
    if not words.startswith("…"):
        return words
    before = [name for name in list(MEASURES)[: list(MEASURES).index(measure)]]
    owner = next(MEASURES[name] for name in reversed(before) if not MEASURES[name].startswith("…"))
    return f"{owner.split(',')[0]}, {words.removeprefix('… ')}"


def worded(measure: str, value: Any) -> str:
    """A value of impact.json with its unit; a milestone with when it was last seen not reached."""
    if value is None:
        return NOT_SEEN if measure.removesuffix("_after_start") in WAITING else NONE
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return number(sum(value.values()))
    if measure == "dips":
        return str(len(value))
    if isinstance(value, list | tuple):
        return _pair(measure, value)
    return _unit(measure, float(value))


def found(slo: Mapping[str, Any]) -> str:
    """What was found where a limit is: a value, or what its absence means."""
    ends = (slo.get("best"), slo.get("worst"))
    if slo["value"] is not None and ends[0] != ends[1]:
        return between(ends, lambda end: worded(slo["name"], end), slo["value"])
    if slo["value"] is None and slo["name"].startswith("latency_all."):
        return "> deadline" if slo["met"] is False else NONE
    if slo["value"] is None and slo["met"] is None:
        return NONE
    return worded(slo["name"], slo["value"])


def has_scope(measure: str, scope: str) -> bool:
    """Whether a measure says something of each scope; milestones are the whole cluster's."""
    known = find(measure)
    return scope == "total" or known is None or known.per_scope


def bound(slo: Mapping[str, Any]) -> str:
    """`≤ 10 s`."""
    sign = "≥" if slo["direction"] == "at_least" else "≤"
    return f"{sign} {worded(slo['name'], slo['limit'])}"


def _pair(measure: str, pair: Sequence[float]) -> str:
    if measure in RATIOS:
        return " to ".join(_unit(measure, edge) for edge in pair)
    last_no, first_yes = pair
    return f"{first_yes:.2f} s (not at {last_no:.2f} s)"


def _unit(measure: str, value: float) -> str:
    """A number by the unit that limits on its measure have."""
    found = find(measure)
    unit = "ratio" if measure in RATIOS else found.unit if found else "s"
    if unit == "ratio":  # 99.95 % served needs a digit more than a drop of 4.25 %
        digits = 4 if found is not None and found.direction == AT_LEAST else 3
        return f"{100 * value:.{digits}g} %"
    if unit == "us":
        return f"{value / 1000:,.1f} ms"
    if unit in ("bytes", "bytes/s"):
        return data_size(value) + unit.removeprefix("bytes")
    return duration(value) if unit == "s" else number(value)
