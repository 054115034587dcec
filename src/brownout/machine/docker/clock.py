"""When the engine saw something happen, on our own monotonic clock.

The engine stamps the end of a container by its own clock, which may be off by years. Asked for
the time, it answers between two moments of ours, which bounds how the two clocks compare:

    ours      asked ─────────────▶ answered
    theirs           now ◀── so much earlier ── the stamp
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

__all__ = ["Reading", "moment", "read"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The engine's clock showed `engine_s` between two moments of `time.monotonic()`."""

    asked: float
    engine_s: float
    answered: float


def read(client: Any) -> Reading | None:
    """Ask the engine for the time; None if it does not say it."""
    asked = time.monotonic()
    text = client.info().get("SystemTime", "")
    answered = time.monotonic()
    engine_s = _seconds(text)
    return None if engine_s is None else Reading(asked, engine_s, answered)


def moment(
    stamp: str, reading: Reading | None, earliest: float, latest: float
) -> tuple[float, float]:
    """Return when `stamp` was at the latest, and for how long before it may have been. Pure.

    It was surely between `earliest` and `latest`; that is all that is known where the engine's
    clock was set meanwhile.
    """
    stamped = _seconds(stamp)
    if reading is not None and stamped is not None:
        ago = reading.engine_s - stamped
        low, high = max(earliest, reading.asked - ago), min(latest, reading.answered - ago)
        if low <= high:
            return high, high - low
    return latest, latest - earliest


def _seconds(stamp: str) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return None
