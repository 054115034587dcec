"""Being told to end: by SIGTERM as by a Ctrl-C, and not a second time while things are put back."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["DeafToSignals", "Handler", "Terminated", "as_ctrl_c"]

logger = logging.getLogger("chaostoolkit")

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


class Terminated(KeyboardInterrupt):
    """A Ctrl-C that only this process got: processes that it started have to be told by it."""


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Have SIGTERM end what the main thread does as a Ctrl-C would, by raising `Terminated`."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


class DeafToSignals:
    """Lets one signal through, and answers all after it with a word, until `stop`.

    SIGINT, SIGTERM, SIGHUP (the terminal was closed) and Chaos Toolkit's own. A second one would
    raise in the middle of what the first one began: Chaos Toolkit then never comes to where
    everything is put back. That there was one is known by `told_again`.

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

    def arm(self, heard: Callable[[signal.Signals], None]) -> None:
        """Be deaf from the first signal on; `heard` gets it before it is acted on."""
        self._heard = heard
        self._take()

    def listen(self) -> None:
        """Be deaf from now on; safe to call again."""
        self._deaf = True
        self._take()

    def stop(self) -> None:
        """Give each signal back to whoever had it."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before, self._deaf = {}, False

    def _take(self) -> None:
        """Have every signal that is not ignored, as in the background a Ctrl-C is."""
        if not self._before:
            found = {number: signal.getsignal(number) for number in self.SIGNALS}
            self._before = {n: had for n, had in found.items() if had is not signal.SIG_IGN}
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
        _skip_pause(frame)
        before = self._before.get(number)
        if not callable(before):
            raise Terminated
        before(number, frame)


def _skip_pause(frame: FrameType | None) -> None:
    """Take the pause away that Chaos Toolkit makes after an activity, however that ended."""
    while frame is not None:
        if frame.f_code.co_name == "execute_activity" and "pauses" in frame.f_locals:
            frame.f_locals["pauses"].pop("after", None)
        frame = frame.f_back
