"""Keep the board on the screen: a panel in a terminal, a line now and then anywhere else.

In a terminal, log lines and prints appear above the panel, and whatever ends the process leaves
no panel and a visible cursor behind. Elsewhere there is a line at most every `PLAIN_EVERY_S`, one
whenever the phase changes, and one a minute where nothing does.
"""

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from brownout.show.live.board import Board
from brownout.show.live.plain import line

if TYPE_CHECKING:
    from rich.live import Live

    from brownout.show.live.panel import BoardView

__all__ = ["PLAIN_EVERY_S", "Plain", "Screen", "Terminal", "screen_for"]

PLAIN_EVERY_S = 5.0
#: A line that says nothing new is repeated after this: silence looks like a program that hangs.
PLAIN_AGAIN_S = 60.0
#: The panel shares the machine with what is measured: no more often than a person can read.
FRAMES_PER_S = 2.0

logger = logging.getLogger("chaostoolkit")

Draw = Callable[[], Board]


class Screen(Protocol):
    """Shows boards from `start` to `stop`; `phase_changed` is called when the phase does."""

    def start(self) -> None: ...

    def phase_changed(self) -> None: ...

    def stop(self) -> None: ...


def screen_for(stream: TextIO, draw: Draw) -> Screen:
    """Return the screen that suits `stream`."""
    dumb = os.environ.get("TERM", "dumb") == "dumb" or bool(os.environ.get("CI"))
    return Terminal(stream, draw) if stream.isatty() and not dumb else Plain(draw)


class Plain:
    """One line every few seconds, through the `chaostoolkit` logger."""

    def __init__(
        self, draw: Draw, every_s: float = PLAIN_EVERY_S, again_s: float = PLAIN_AGAIN_S
    ) -> None:
        self._draw, self._every_s, self._again_s = draw, every_s, again_s
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._tell, name="status", daemon=True)
        self._said, self._said_at = "", 0.0

    def start(self) -> None:
        """Begin, with a first line."""
        self._say()
        self._thread.start()

    def phase_changed(self) -> None:
        """Say it now."""
        if self._thread.is_alive():
            self._say()

    def stop(self) -> None:
        """End, without a word."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _tell(self) -> None:
        while not self._stopped.wait(self._every_s):
            self._say()

    def _say(self) -> None:
        with self._lock:
            words = line(self._draw())
            now = time.monotonic()
            if words != self._said or now - self._said_at >= self._again_s:
                self._said, self._said_at = words, now
                logger.info(f"brownout: {words}")


class Terminal:
    """A panel at the bottom of a terminal."""

    def __init__(self, stream: TextIO, draw: Draw) -> None:
        self._stream, self._draw = stream, draw
        self._live: Live | None = None
        self._streams: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []
        self._board, self._drawn = Board(), float("-inf")

    def start(self) -> None:
        """Begin to draw, and lead everything else that writes to the terminal above the panel."""
        from rich.live import Live

        from brownout.show.console import console_on

        self._live = Live(
            get_renderable=self._view,
            console=console_on(self._stream),
            refresh_per_second=FRAMES_PER_S,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
        )
        atexit.register(self.stop)
        self._live.start()
        self._lead_logs_above()

    def phase_changed(self) -> None:
        """Nothing: the next frame shows it."""

    def stop(self) -> None:
        """Take the panel away and give everything back. Safe to repeat."""
        live, self._live = self._live, None
        if live is None:
            return
        atexit.unregister(self.stop)
        for handler, stream in self._streams:
            handler.setStream(stream)
        with contextlib.suppress(OSError):  # the terminal was closed
            live.stop()

    def _view(self) -> "BoardView":
        from brownout.show.live.panel import BoardView

        now = time.monotonic()
        if now - self._drawn > 0.5 / FRAMES_PER_S:  # a log line also asks for a frame
            self._board, self._drawn = self._draw(), now
        return BoardView(self._board)

    def _lead_logs_above(self) -> None:
        """A handler has its stream from before: rich's own redirection does not reach it."""
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream.isatty():
                self._streams.append((handler, handler.stream))
                handler.setStream(sys.stderr)
