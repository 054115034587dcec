"""What a run writes down of the cluster: which milestones it reached and which it missed."""

from collections.abc import Callable
from typing import Any

from brownout.run.events import EventLog
from brownout.session.milestones import Crossing

__all__ = ["Trail"]


class Trail:
    """The events of one run; `to_t` turns monotonic seconds into seconds since the load began."""

    def __init__(self, events: EventLog, to_t: Callable[[float | None], float | None]) -> None:
        self.events, self._to_t = events, to_t

    def crossed(self, crossing: Crossing) -> None:
        """Write that a milestone was reached, and what was read for it; or that it is revoked."""
        evidence = self.bracket(crossing)
        if crossing.first_yes is None:
            evidence["revoked"] = True
        self.events.point("milestone", crossing.name, evidence=crossing.detail, **evidence)

    def missed(self, crossing: Crossing, limit_s: float) -> None:
        """Write that a milestone was not reached within its limit."""
        self.events.point("milestone", crossing.name, limit_s=limit_s, **self.bracket(crossing))

    def bracket(self, crossing: Crossing) -> dict[str, Any]:
        """Return the last poll that said no and the first that said yes, in seconds."""
        last, first = crossing.last_no, crossing.first_yes
        return {"last_no": self._to_t(last), "first_yes": self._to_t(first)}
