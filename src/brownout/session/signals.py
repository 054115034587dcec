"""Being told to end: by SIGTERM as by a Ctrl-C, and not a second time while things are put back."""

import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from chaoslib.exceptions import InterruptExecution

from brownout.base.termination import Terminated

__all__ = ["DeafToSignals", "Handler"]

logger = logging.getLogger("chaostoolkit")

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None

_LOST_AFTER_S = 1.0


class DeafToSignals:
    """Lets one signal through, and answers all after it with a word, until `stop`.

    SIGINT, SIGTERM, SIGHUP (the terminal was closed) and Chaos Toolkit's own. A second one would
    raise in the middle of what the first one began: Chaos Toolkit then never comes to where
    everything is put back. That there was one is known by `told_again`.

    What the first one raised can be lost: Python only prints what is raised in a finalizer, and
    an activity's `except Exception` catches Chaos Toolkit's own. `raise_again` is for that.

    Only the main thread may use it. `kill -9` still works; `brownout heal` is for after that.
    """

    SIGNALS = (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGUSR1,
        signal.SIGUSR2,
    )

    def __init__(self) -> None:
        self._before: dict[int, Handler] = {}
        self._deaf = self.told_again = False
        self._heard: Callable[[signal.Signals], None] = lambda _: None
        self._unanswered: tuple[int, float] | None = None

    def arm(self, heard: Callable[[signal.Signals], None]) -> None:
        """Be deaf from the first signal on; `heard` gets it before it is acted on."""
        self._heard = heard
        self._take()

    def listen(self) -> None:
        """Be deaf from now on, for the run is ending; safe to call again."""
        self._deaf = True
        self._unanswered = None
        self._take()

    def stop(self) -> None:
        """Restore the earlier handler of each signal."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before, self._deaf, self._unanswered = {}, False, None

    def unanswered(self) -> bool:
        """Whether a signal was let through and the run has not begun to end."""
        return self._unanswered is not None

    def raise_again(self, frame: FrameType | None) -> None:
        """Raise what the first signal raised if an activity is still running a second later."""
        if self._unanswered is None:
            return
        number, at = self._unanswered
        lost = time.monotonic() - at >= _LOST_AFTER_S and not _is_ending(sys.exc_info()[1])
        if lost and any(_activities(frame)):
            self._raise(number, frame)

    def _take(self) -> None:
        """Have every signal that is not ignored, as in the background a Ctrl-C is."""
        if not self._before:
            handlers = {number: signal.getsignal(number) for number in self.SIGNALS}
            self._before = {n: had for n, had in handlers.items() if had is not signal.SIG_IGN}
            for number in self._before:
                signal.signal(number, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._deaf:
            self.told_again = True
            logger.warning(
                "brownout puts everything back all the same; it reads no more of the ledger"
            )
            return
        self._deaf = True
        self._heard(signal.Signals(number))
        self._raise(number, frame)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._unanswered = number, time.monotonic()
        for activity in _activities(frame):
            # Chaos Toolkit would pause after it, however it ended.
            activity.f_locals["pauses"].pop("after", None)
        before = self._before.get(number)
        if not callable(before):
            raise Terminated
        before(number, frame)


def _activities(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the activities that Chaos Toolkit executes now."""
    while frame is not None:
        if frame.f_code.co_name == "execute_activity" and "pauses" in frame.f_locals:
            yield frame
        frame = frame.f_back


def _is_ending(handled: BaseException | None) -> bool:
    """Say whether a signal's exception is being handled: nothing may disturb the cleaning up."""
    while handled is not None:
        if isinstance(handled, InterruptExecution | KeyboardInterrupt | SystemExit):
            return True
        handled = handled.__context__
    return False
