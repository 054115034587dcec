"""Why a run is to stop before its end, and that nothing stops it while it puts things back."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from chaoslib.exit import exit_gracefully

from brownout.run.events import EventLog
from brownout.run.series import Series
from brownout.session.signals import DeafToSignals
from brownout.session.stopping import ABORT_FILE, Condition, StopWatch
from brownout.session.waking import Waker

__all__ = ["Interruption", "cause_of"]

logger = logging.getLogger("chaostoolkit")


def cause_of(told: BaseException) -> str:
    """Return who ended the run, by what Chaos Toolkit's main thread was told with."""
    if isinstance(told, SystemExit):
        number = {20: "SIGUSR1", 30: "SIGUSR2"}.get(told.code, str(told.code))  # type: ignore[arg-type]
        return f"Chaos Toolkit was told to exit ({number}), by a safeguard or another control"
    return str(told) or "Ctrl-C"


class Interruption:
    """The first reason to stop counts; `aborted` is for people and stop conditions only."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.reason = ""
        self._conditions = list(conditions)
        self._aborted = threading.Event()
        self._undoing = False
        self._events: EventLog | None = None
        self._watch: StopWatch | None = None
        self._deaf = DeafToSignals()
        self._waker = Waker()

    def watch(self, run: Path, events: EventLog, series: Callable[[], Series]) -> None:
        """Watch the stop conditions, and for `brownout abort`, until all is put back."""
        self._events = events
        self._waker.start()
        self._watch = StopWatch(self._conditions, run / ABORT_FILE, series, self._stop_for)
        self._watch.start()

    def aborted(self) -> bool:
        """Whether a person or a stop condition ended the run."""
        return self._aborted.is_set()

    def abort(self, reason: str) -> None:
        """A person or a stop condition ends the run; everything is put back."""
        if not self._aborted.is_set():
            self._aborted.set()
            self.reason = self.reason or reason
            if self._events is not None:
                self._events.point("abort", "abort", reason=reason)

    def fail(self, reason: str) -> None:
        """Something went wrong: what would follow is no test, so the run stops here."""
        if not self.reason:
            self.reason = reason
            if self._events is not None:
                self._events.point("note", "failure", reason=reason)

    def must_stop(self) -> bool:
        """Whether no further activity may start; undoing may always."""
        return bool(self.reason) and not self._undoing

    def no_more(self) -> None:
        """From here on nothing interrupts: things are put back. Safe to repeat."""
        self._undoing = True
        if self._watch is not None:
            self._watch.end()
        self._deaf.listen()

    def end(self) -> None:
        """Signals mean again what they meant before."""
        self._waker.stop()
        self._deaf.stop()

    def _stop_for(self, reason: str) -> None:
        """A stop condition is met: interrupt whatever Chaos Toolkit does now."""
        logger.error(reason)
        self.abort(reason)
        exit_gracefully()
