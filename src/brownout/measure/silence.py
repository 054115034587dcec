"""What a node's silence tells: nothing, unless an event proves that its process did not run.

A node that gives no answer may be out of our reach, and accept writes all the same.
"""

import math
from collections.abc import Iterable, Sequence

from brownout.measure.episodes import has_landed
from brownout.measure.view import View
from brownout.run.events import Event
from brownout.run.primaries import Look

__all__ = ["needed_until", "telling"]

#: So long before the end a node's last answer may be: one that misses a question is asked again
#: after 0.5 s.
_REACH_S = 1.0
#: What undoes a fault after which a node's process is gone or frozen.
_UNDOS = ("start_node", "resume_node")


def telling(looks: Sequence[Look], events: Sequence[Event]) -> list[Look]:
    """Return the looks that tell something: the answers, and silence while surely no process ran.

    That is from the proof of a stop, kill or pause until a mend of the node, or until it says
    that it is primary, whatever resumed it.
    """
    downs = [
        (event.node, event.effective, min(_returns(looks, events, event), default=math.inf))
        for event in events
        if event.type == "break" and (event.undo or {}).get("action") in _UNDOS
        if event.effective is not None and has_landed(event)
    ]
    return [
        look
        for look in looks
        if look.primary is not None
        or any(n == look.node and a <= look.asked and look.answered <= b for n, a, b in downs)
    ]


def needed_until(view: View) -> float:
    """Return from when on a node must have answered, or its state is unknown."""
    return max(view.effective, view.until - _REACH_S)


def _returns(looks: Iterable[Look], events: Iterable[Event], down: Event) -> Iterable[float]:
    """Yield when the node of a break may have run again since its effect."""
    since = down.effective or 0.0
    mends = (e.requested for e in events if e.type == "mend" and e.node == down.node)
    claims = (look.asked for look in looks if look.primary and look.node == down.node)
    return (t for t in (*mends, *claims) if t is not None and t >= since)
