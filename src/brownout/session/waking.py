"""Wake the main thread for a signal that the kernel gave to another one.

Chaos Toolkit and its safeguards end a run by a signal whose handler raises in the main thread. The
kernel may hand it to any thread; Python then runs the handler when the main thread next executes
Python code, which in a pause of ten minutes is ten minutes later: one time in eight when tried on
Linux 6.18, with threads that start processes.
"""

import os
import signal
import threading
from types import FrameType

__all__ = ["Waker"]

#: Ignored by everybody; here it only ends a system call of the main thread early.
_NUDGE = signal.SIGURG


class Waker:
    """While it is on, every signal ends the main thread's sleep. Main thread only."""

    def __init__(self) -> None:
        self._pipe: tuple[int, int] | None = None
        self._before_fd = -1
        self._before: object = signal.SIG_DFL

    def start(self) -> None:
        """Begin; safe to call again."""
        if self._pipe is not None:
            return
        self._pipe = os.pipe()
        os.set_blocking(self._pipe[1], False)
        self._before = signal.signal(_NUDGE, _nothing)
        self._before_fd = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        reader = threading.Thread(target=_nudge, args=(self._pipe[0],), name="waker", daemon=True)
        reader.start()

    def stop(self) -> None:
        """End; the reader goes with its pipe."""
        if self._pipe is None:
            return
        signal.set_wakeup_fd(self._before_fd)
        signal.signal(_NUDGE, self._before)  # type: ignore[arg-type]
        os.close(self._pipe[1])
        self._pipe = None


def _nudge(pipe: int) -> None:
    """Interrupt what the main thread waits for whenever a signal was told, but for our own."""
    main = threading.main_thread().ident
    assert main is not None
    while told := os.read(pipe, 64):
        if any(number != _NUDGE for number in told):
            signal.pthread_kill(main, _NUDGE)
    os.close(pipe)


def _nothing(number: int, frame: FrameType | None) -> None:
    """Do nothing: that it was called is all."""
