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
    """Answers SIGINT, SIGTERM and Chaos Toolkit's own signals with a word, until `stop`.

    Only the main thread may use it. `kill -9` still works; `brownout heal` is for after that.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Handler] = {}

    def listen(self) -> None:
        """Begin; safe to call again."""
        if not self._before:
            self._before = {number: signal.signal(number, self._say) for number in self.SIGNALS}

    def stop(self) -> None:
        """Give each signal back to whoever had it."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @staticmethod
    def _say(number: int, frame: FrameType | None) -> None:
        logger.warning("brownout is putting everything back; this takes some seconds")
