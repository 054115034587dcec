"""How long everybody waited and was served in time all the same: it is not an outage."""

from brownout.measure.data import RunData
from brownout.measure.view import View

__all__ = ["longest_stall"]


def longest_stall(view: View, data: RunData) -> float | None:
    """Return the longest time without a success after which all was served in time, in seconds.

    None where no intended starts are known.
    """
    return None if view.blackout is None else view.blackout.stall
