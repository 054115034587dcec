"""Waiting for a state: one loop that looks, and looks again."""

import math
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["since_boot", "wait_until"]

T = TypeVar("T")


def since_boot() -> float:
    """Return the seconds since this machine booted, also those for which it was suspended.

    On Linux `time.monotonic()` stands still meanwhile (clock_gettime(2)); elsewhere that is all
    there is.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def wait_until(
    look: Callable[[], T],
    within_s: float = math.inf,
    every_s: float = 0.2,
    *,
    so: Callable[[T], object] = bool,
    despite: type[Exception] | tuple[type[Exception], ...] = (),
    stopped: Callable[[], bool] = lambda: False,
    pause: Callable[[float], object] = time.sleep,
) -> T:
    """Return the first answer of `look` that is `so`, or its last one where none was in time.

    It looks at once, then every `every_s` seconds, and a last time when `within_s` seconds are
    over or it is `stopped`. An error of `despite` counts as no answer yet; the last look's is
    raised. Any other error ends the wait, as a signal's does. `pause` is what sleeps.
    """
    deadline = time.monotonic() + within_s
    while True:
        over = stopped() or time.monotonic() >= deadline
        try:
            last = look()
        except despite:
            if over:
                raise
        else:
            if over or so(last):
                return last
        pause(max(0.0, min(every_s, deadline - time.monotonic())))
