"""Waiting until a lab has reached a milestone."""

from brownout.base.errors import ClusterError
from brownout.databases import milestones
from brownout.databases.adapter import Adapter, Milestone

__all__ = ["await_milestone"]

_POLL_S = 0.05


def await_milestone(adapter: Adapter, milestone: Milestone, within_s: float) -> None:
    """Wait until the lab is `whole`, or `redundant`; else `ClusterError` with what is missing."""
    missing = milestones.await_nothing(
        lambda: milestones.unmet(adapter, milestone), within_s, poll_s=_POLL_S
    )
    if missing:
        raise ClusterError(
            f"the lab is not {milestone} after {within_s:g} s: {'; '.join(missing)}",
            "see `brownout lab logs`, or begin anew with `brownout lab down`",
        )
