"""Look again and again at what the nodes hold, while a cluster is resized or a load is long."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from brownout.base.errors import BrownoutError
from brownout.base.files import private_file
from brownout.databases.resize import Resizing
from brownout.run.balance import HEADER, Holding, balance_lines

__all__ = ["BalanceWatch", "moving_words"]

logger = logging.getLogger("chaostoolkit")

_EVERY_S = 1.0


class BalanceWatch:
    """Writes `balance.csv` from a thread of its own; `say` gets what is left to move, in words.

    A look that fails is left out: the measures then know of no look, and never of an empty node.
    """

    def __init__(
        self,
        adapter: Resizing,
        path: Path,
        clock: Callable[[], float | None],
        say: Callable[[str], None],
        every_s: float = _EVERY_S,
    ) -> None:
        self._every_s = every_s
        self._adapter, self._path, self._clock, self._say = adapter, path, clock, say
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="balance", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        private_file(self._path).write_text(",".join(HEADER) + "\n", encoding="utf-8")
        self._thread.start()

    def stop(self) -> None:
        """Look one last time; safe to call again."""
        self._stop.set()
        self._thread.join(timeout=15.0)

    def _watch(self) -> None:
        while True:
            began = time.monotonic()
            last = self._stop.is_set()
            self._look()
            if last:
                return
            self._stop.wait(max(0.0, self._every_s - (time.monotonic() - began)))

    def _look(self) -> None:
        """Take the time before asking: what is answered is not older than it."""
        t = self._clock()
        with contextlib.suppress(BrownoutError, OSError):
            nodes = self._adapter.holdings()
            if t is None or not nodes:
                return
            with self._path.open("a", encoding="utf-8") as file:
                file.write(balance_lines(t, nodes))
            if words := moving_words(nodes):
                self._say(words)


def moving_words(nodes: Mapping[str, Holding]) -> str:
    """Return what is left to move, as `812 left to move (n6 812)`; empty for nothing."""
    left = {name: held.to_move for name, held in nodes.items() if held.to_move}
    if not left:
        return ""
    each = ", ".join(f"{name} {count:,}" for name, count in left.items())
    return f"{sum(left.values()):,} left to move ({each})"
