"""SIGTERM and SIGHUP end a program as a Ctrl-C does: what it began is put away first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Terminated", "as_ctrl_c"]

#: A service manager ends a program by the first, a terminal that is closed by the second.
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """A Ctrl-C that came as another signal."""


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Have these signals end what the main thread does by raising `Terminated`.

    One that is ignored, as SIGHUP is by `nohup`, stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated
