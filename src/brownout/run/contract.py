"""The contract of a fault: which clauses it has, and that one was broken, as `contract` events.

A verdict is about a fault that hit what it was meant to hit, lasted as long as it was meant to, and
came in time. A broken clause makes the run inconclusive: what was measured is then true, but of
another fault. `docs/measures.md` has the clauses in words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brownout.run.events import Event, EventLog

__all__ = [
    "CLUSTER",
    "DATA",
    "DURATION",
    "LATENESS",
    "ROLE",
    "TYPE",
    "Breach",
    "breaches",
    "early_end",
    "is_late",
]
__all__ += ["lasted", "write"]

#: The type of the events; their name is the clause.
TYPE = "contract"
#: Who: the node did not have the role that was asked for when the fault took effect.
ROLE = "role"
#: For how long: the fault ended before its undo.
DURATION = "duration"
#: What: the node still holds the data that it was to lose.
DATA = "data"
#: Our own lateness: a step began later than its pause says.
LATENESS = "lateness"
#: Whose cluster: another run had it at the same time.
CLUSTER = "cluster"

#: A step may begin later than its pause says by so much, or by this share of the pause.
_LATE_S = 1.0
_LATE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Breach:
    """A clause that was broken, in one plain sentence.

    Of a fault that ended early `last_seen` and `first_not` bound when, in the run's seconds, and
    `of` is the id of its event. What the experiment `allowed` breaks nothing, and is recorded all
    the same.
    """

    clause: str
    detail: str
    node: str | None = None
    last_seen: float | None = None
    first_not: float | None = None
    of: int | None = None
    allowed: bool = False


def is_late(late_s: float, due_s: float) -> bool:
    """Return whether what was due after `due_s` seconds and came `late_s` later is our failure."""
    return late_s > max(_LATE_S, _LATE_SHARE * due_s)


def lasted(least_s: float, most_s: float) -> dict[str, Any]:
    """Return as evidence of a break that it ended early, and how long it lasted at least and most.

    `early_end` reads it.
    """
    return {"ended_early": True, "lasted_s": [round(least_s, 3), round(most_s, 3)]}


def early_end(evidence: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return how long a break lasted that ended before its undo: at least, and at most.

    In seconds since its effect. None where it lasted until its undo, or nothing is known of that.
    """
    ends = evidence.get("lasted_s")
    if not evidence.get("ended_early") or not isinstance(ends, list | tuple) or len(ends) != 2:
        return None
    minimum, maximum = ends
    if not isinstance(minimum, int | float) or not isinstance(maximum, int | float):
        return None
    return float(minimum), float(maximum)


def write(log: EventLog, breach: Breach) -> None:
    """Write a broken clause to the run's events."""
    fields = {"last_seen": breach.last_seen, "first_not": breach.first_not, "of": breach.of}
    log.point(
        TYPE,
        breach.clause,
        node=breach.node,
        ok=breach.allowed,
        detail=breach.detail,
        **{name: value for name, value in fields.items() if value is not None},
    )


def breaches(events: Iterable[Event]) -> list[Breach]:
    """Return every broken clause that events tell of, those that were allowed too."""
    return [
        Breach(
            event.name,
            str(event.fields.get("detail", "")),
            event.node,
            event.fields.get("last_seen"),
            event.fields.get("first_not"),
            event.fields.get("of"),
            event.fields.get("ok") is True,
        )
        for event in events
        if event.type == TYPE
    ]
