"""Wake the main thread for a signal that the kernel gave to another one.

Chaos Toolkit and its safeguards end a run by a signal whose handler raises in the main thread. The
kernel may hand it to any thread; Python then runs the handler when the main thread next executes
Python code, which in a pause of ten minutes is ten minutes later: one time in eight when tried on
Linux 6.18, with threads that start processes. A signal that comes just before the main thread goes
to sleep does not wake it either, nor does one nudge: one time in a hundred when tried. And what a
handler raised may have been lost: so the nudges continue until the signal is acted on.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

__all__ = ["Waker"]

#: Ignored by everybody; here it only ends a system call of the main thread early.
_NUDGE = signal.SIGURG
_NUDGE_AGAIN_S = 0.05


class Waker:
    """While it is on, every signal ends the main thread's sleep. Main thread only.

    Args:
        unanswered: Whether a signal has not been acted on yet.
        nudged: Called in the main thread, with the frame that it executes.
    """

    def __init__(
        self,
        unanswered: Callable[[], bool] = lambda: False,
        nudged: Callable[[FrameType | None], None] = lambda _: None,
    ) -> None:
        self._unanswered, self._nudged = unanswered, nudged
        self._pipe: tuple[int, int] | None = None
        self._before_fd = -1
        self._before: object = signal.SIG_DFL
        self._heard = True  # no event: its lock could be held where the handler interrupts

    def start(self) -> None:
        """Begin; safe to call again."""
        if self._pipe is not None:
            return
        self._pipe = os.pipe()
        os.set_blocking(self._pipe[1], False)
        self._before = signal.signal(_NUDGE, self._hear)
        self._before_fd = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        reader = threading.Thread(
            target=self._nudge, args=(self._pipe[0],), name="waker", daemon=True
        )
        reader.start()

    def stop(self) -> None:
        """End; the reader goes with its pipe."""
        if self._pipe is None:
            return
        signal.set_wakeup_fd(self._before_fd)
        signal.signal(_NUDGE, self._before)  # type: ignore[arg-type]
        os.close(self._pipe[1])
        self._pipe = None

    def _nudge(self, pipe: int) -> None:
        """Interrupt what the main thread waits for whenever a signal came, until it acts."""
        main = threading.main_thread().ident
        assert main is not None
        while signals := os.read(pipe, 64):
            if all(number == _NUDGE for number in signals):
                continue
            self._heard = False
            while self._pipe is not None and (not self._heard or self._unanswered()):
                signal.pthread_kill(main, _NUDGE)
                time.sleep(_NUDGE_AGAIN_S)
        os.close(pipe)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """The main thread runs Python, and with it the handlers of whatever signal came."""
        self._heard = True
        self._nudged(frame)
