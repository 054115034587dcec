"""How service went after the fault: when it got worse, for how long, when it was back."""

from dataclasses import dataclass

from brownout.measure.data import RunData
from brownout.measure.dips import Dip, dip_method
from brownout.measure.recovery import recovered_at
from brownout.measure.view import View

__all__ = ["Course", "course_of", "longest_stall"]


@dataclass(frozen=True, slots=True)
class Course:
    """Seconds; those that end in `_time`, but for `degraded_time`, from the fault's effect.

    `time_to_impact` is None without a dip, `recovery_time` where the load never held, and
    `settled_time` where the last dip had not ended when the load did.
    `longest_blackout_op` is `read` or `write` where the other still succeeded.
    """

    time_to_impact: float | None
    degraded_time: float | None
    blackout: float | None
    longest_blackout: float | None
    longest_blackout_at: tuple[float, float] | None
    longest_blackout_op: str | None
    blackout_resolution_s: float | None
    recovery_time: float | None
    settled_time: float | None
    dips: tuple[Dip, ...]
    dip_method: str


def course_of(view: View) -> Course:
    """Return how service went in one scope."""
    dark, recovered = view.blackout, recovered_at(view)
    return Course(
        time_to_impact=max(0.0, view.dips[0].start - view.effective) if view.dips else None,
        degraded_time=sum(dip.length for dip in view.dips),
        blackout=dark.total if dark else None,
        longest_blackout=dark.longest if dark else None,
        longest_blackout_at=dark.longest_at if dark else None,
        longest_blackout_op=dark.op if dark else None,
        blackout_resolution_s=dark.resolution if dark else None,
        recovery_time=None if recovered is None else recovered - view.effective,
        settled_time=_settled(view),
        dips=view.dips,
        dip_method=dip_method(view.signal),
    )


def longest_stall(view: View, data: RunData) -> float | None:
    """Return the longest time without a success after which all was served in time, in seconds.

    None where no intended starts are known.
    """
    return None if view.blackout is None else view.blackout.stall


def _settled(view: View) -> float | None:
    """Return when the last dip ended; a dip that reaches the end of the load never did."""
    if not view.dips:
        return 0.0
    last = view.dips[-1].end
    return None if last > view.until - 0.05 else max(0.0, last - view.effective)
