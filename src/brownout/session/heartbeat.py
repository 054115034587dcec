"""Whether this process ran all the time: a stopped or starved one is late with all that it does.

So is one whose machine was suspended. All moments are of `since_boot`.
"""

import threading

from brownout.base.wait import since_boot

__all__ = ["Heartbeat"]

_EVERY_S = 0.2
#: A beat that is this late means that the process was stopped, not that the machine was busy.
_GAP_S = 1.0


class Heartbeat:
    """Beats from a thread of its own until `stop`, and remembers when it did not."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._gaps: list[tuple[float, float]] = []
        self._last = since_boot()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Begin; safe to call again."""
        if self._thread.ident is None:
            self._last = since_boot()
            self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()

    def missed_s(self, since: float) -> float:
        """Return for how many seconds this process did not run after `since`."""
        gaps, now = list(self._gaps), since_boot()
        if _is_gap(self._last, now):  # the caller ran again before the next beat
            gaps.append((self._last, now))
        return sum(end - max(begin, since) for begin, end in gaps if end > since)

    def _beat(self) -> None:
        while not self._stop.wait(_EVERY_S):
            now = since_boot()
            if _is_gap(self._last, now):
                self._gaps.append((self._last, now))
            self._last = now


def _is_gap(last: float, now: float) -> bool:
    return now - last > _EVERY_S + _GAP_S
