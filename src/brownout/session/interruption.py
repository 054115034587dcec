"""Why a run is to stop before its end, and that nothing stops it while it puts things back."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from chaoslib.exit import exit_gracefully

from brownout.run.events import EventLog
from brownout.run.series import Series
from brownout.session.signals import DeafToSignals
from brownout.session.stop_conditions import ABORT_FILE, Condition, StopWatch
from brownout.session.waker import Waker

__all__ = ["Interruption", "cause_of"]

logger = logging.getLogger("chaostoolkit")

_WORDS = {
    signal.SIGINT: "stopped by Ctrl-C",
    signal.SIGTERM: "stopped by SIGTERM",
    signal.SIGHUP: "stopped because its terminal was closed",
}
_TOLD_TO_EXIT = "Chaos Toolkit was told to exit ({}), by a safeguard or another control"


def cause_of(raised: BaseException) -> str:
    """Return who ended the run, by what Chaos Toolkit's main thread was told with."""
    if isinstance(raised, SystemExit):
        number = {20: "SIGUSR1", 30: "SIGUSR2"}.get(raised.code, str(raised.code))  # type: ignore[arg-type]
        return _TOLD_TO_EXIT.format(number)
    return str(raised) or _WORDS[signal.SIGINT]


class Interruption:
    """The first reason to stop counts; `aborted` is for people and stop conditions only."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.reason = ""
        self._conditions = list(conditions)
        self._aborted = threading.Event()
        self._undoing = False
        self._abort_file: Path | None = None
        self._events: EventLog | None = None
        self._watch: StopWatch | None = None
        self._deaf = DeafToSignals()
        self._signal = ""
        self._waker = Waker(self._deaf.unanswered, self._deaf.raise_again)

    def arm(self) -> None:
        """From here on the first signal ends the run, and no other disturbs that."""
        self._deaf.arm(self._told_by)

    def watch(self, run: Path, events: EventLog, series: Callable[[], Series]) -> None:
        """Watch the stop conditions, and for `brownout abort`, until all is put back."""
        self._events = events
        self._abort_file = run / ABORT_FILE
        self._waker.start()
        self._watch = StopWatch(self._conditions, self._abort_file, series, self._stop_for)
        self._watch.start()

    def aborted(self) -> bool:
        """Whether a person or a stop condition ended the run."""
        return self._aborted.is_set() or bool(self._signal)

    def abort(self, reason: str) -> None:
        """A person or a stop condition ends the run; everything is put back."""
        if not self._aborted.is_set():
            self._aborted.set()
            reason = self._signal or reason
            self.reason = self.reason or reason
            if self._events is not None:
                self._events.point("abort", "abort", reason=reason)

    def fail(self, reason: str) -> None:
        """Something went wrong: what follows would not be a valid test, so the run stops here."""
        if not self.reason:
            self.reason = reason
            if self._events is not None:
                self._events.point("note", "failure", reason=reason)

    def deafen(self) -> None:
        """The run is ending early, for its reason: no signal is to disturb that.

        Signals are the main thread's; an activity in the background leaves them alone.
        """
        if threading.current_thread() is threading.main_thread():
            self._deaf.listen()

    def told_again(self) -> bool:
        """Whether a signal or `brownout abort` came while the run was ending."""
        asked = self._abort_file is not None and self._abort_file.exists()
        return self._deaf.told_again or asked

    def must_stop(self) -> bool:
        """Whether no further activity may start; undoing may always."""
        return bool(self.reason) and not self._undoing

    def no_more(self) -> None:
        """From here on nothing interrupts: things are put back. Safe to repeat."""
        self._undoing = True
        if self._watch is not None:
            self._watch.end()
        self._deaf.listen()
        if self._signal:
            self.abort(self._signal)

    def end(self) -> None:
        """Signals mean again what they meant before."""
        self._waker.stop()
        self._deaf.stop()

    def _told_by(self, number: signal.Signals) -> None:
        """A signal came, at any moment: what takes a lock or writes has to wait for `no_more`."""
        self._signal = _WORDS.get(number) or _TOLD_TO_EXIT.format(number.name)
        self.reason = self.reason or self._signal

    def _stop_for(self, reason: str) -> None:
        """A stop condition is met: interrupt whatever Chaos Toolkit does now."""
        logger.error(reason)
        self.abort(reason)
        exit_gracefully()
