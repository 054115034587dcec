"""Whether this process ran all the time: a stopped or starved one is late with all that it does.

So is one whose machine was suspended. All moments are of `since_boot`.
"""

import threading
from collections.abc import Callable

from brownout.base.wait import since_boot
from brownout.run.contract import is_late

__all__ = ["Heartbeat", "Lateness"]

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


class Lateness:
    """Which steps and waits of a method took longer since this process did not run meanwhile.

    `say` gets a sentence for each.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._heartbeat = say, Heartbeat()
        self._steps: dict[str, float] = {}  # when each that has not ended began
        self._idle_since: float | None = None  # when the last step ended, if no pause follows

    def start(self) -> None:
        """The method begins; safe to call again."""
        self._heartbeat.start()

    def stop(self) -> None:
        """The method has ended."""
        self._heartbeat.stop()

    def begin_step(self, name: str) -> None:
        """A step begins. A stop before it delays the end of a fault as well."""
        self._steps[name] = now = since_boot()
        if self._idle_since is not None:
            self._check(f"the wait before {name}", self._idle_since, now)
            self._idle_since = None

    def end_step(self, name: str) -> None:
        """A step has ended; one that was stopped before it began is passed over."""
        began = self._steps.pop(name, None)
        if began is not None:
            self._idle_since = since_boot()
            self._check(name, began, self._idle_since)

    def begin_pause(self) -> None:
        """A pause begins, which tells by itself whether it was too long."""
        self._idle_since = None

    def late_pause(self, where: str, due_s: float, took_s: float) -> None:
        """A pause took longer than it should have."""
        self._say(
            f"the pause {where} took {took_s:.1f} s instead of {due_s:g} s: brownout itself was "
            "stopped or starved, or its machine was suspended"
        )

    def _check(self, what: str, began: float, ended: float) -> None:
        took_s, missed_s = ended - began, self._heartbeat.missed_s(began)
        if is_late(missed_s, took_s - missed_s):
            self._say(
                f"{what} took {took_s:.1f} s, of which brownout itself was stopped or starved, or "
                f"its machine was suspended, for {missed_s:.1f} s"
            )


def _is_gap(last: float, now: float) -> bool:
    return now - last > _EVERY_S + _GAP_S
