"""What faults are called where there are several, and in which part a measure was worst."""

from collections.abc import Mapping, Sequence

from brownout.measure.impact import Fault, Impact
from brownout.show.report.story import event_words, unserved_op

__all__ = ["named", "node_names", "worst_part"]


def named(faults: Sequence[Fault]) -> list[tuple[str, Fault]]:
    """Return each fault with a name of its own: `n1 killed at 20.4 s`, of several with its number.

    As in `fault 2 of 3: n1 killed at 41.0 s`.
    """
    names = []
    for place, fault in enumerate(faults, 1):
        first = next(event for event in fault.events if event.type == "break")
        at = fault.requested if fault.effective is None else fault.effective
        words = f"{event_words(first.name, first.node)} at {at:.1f} s"
        number = "" if len(faults) == 1 else f"fault {place} of {len(faults)}: "
        names.append((f"{number}{words}", fault))
    return names


def node_names(impact: Impact) -> Mapping[str, str]:
    """Return the names of nodes by their addresses, which lanes are called by."""
    nodes = [*(impact.cluster.get("nodes") or ()), *(impact.cluster.get("spares") or ())]
    return {node["address"]: node["name"] for node in nodes}


def worst_part(impact: Impact, fault: Fault, measure: str, scope: str = "total") -> str:
    """Return in which part a measure was worst: `writes`, `writes of n5`; empty if in none."""
    part: Mapping[str, str] = {}
    if measure in ("blackout", "longest_blackout"):
        op = unserved_op(fault, measure, scope)
        part = {} if op is None else {"op": op}
    elif scope == "total":
        part = {
            "partial_outage": fault.partial_outage_in,
            "client_recovered_time": fault.client_recovered_in,
        }.get(measure, {})
    whose, lane = part.get("op", ""), part.get("lane", "")
    lane = node_names(impact).get(lane, lane)
    words = f"{whose}s" if whose else ""
    return f"{words} of {lane}" if words and lane else words or lane
