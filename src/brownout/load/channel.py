"""The pipe to a running generator: JSON commands in, JSON events out, one reader thread.

The process may run here or on another machine (`place`). Its stderr goes to a file here.
"""

import contextlib
import json
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

from brownout.base.errors import GeneratorError
from brownout.load.place import Process, start

__all__ = ["Channel", "Event"]

Event = Mapping[str, Any]

#: What the generator has for exiting by itself, then for obeying SIGTERM.
_GRACE_S: Final = 10.0


class Channel:
    """One generator process. `on_event` is called in the reader thread for every event;
    those it does not keep (returns False) wait for `await_event`."""

    def __init__(
        self,
        command: list[str],
        log: Path,
        on_event: Callable[[Event, float], bool],
        start: Callable[[list[str], Path], Process] = start,
    ) -> None:
        self._log = log
        self._on_event = on_event
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        self._events: deque[Event] = deque()
        self._ended = False
        self._failure: Exception | None = None
        self._process = start(command, log)
        self._reader = threading.Thread(target=self._read, name="generator", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The generator's process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs and still talks to us."""
        return not self._ended and self._process.poll() is None

    def send(self, command: Mapping[str, Any]) -> None:
        """Send one command. Raises `GeneratorError` if the process no longer listens."""
        line = json.dumps(command).encode() + b"\n"
        try:
            with self._writing:
                assert self._process.stdin is not None  # we asked for a pipe
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise GeneratorError(self.obituary(), self._where()) from error

    def await_event(self, wanted: Collection[str], within_s: float) -> Event:
        """Return the next event of a `wanted` kind, leaving out others.

        Raises `GeneratorError` for an `error` event, for the end of the process, and when
        `within_s` seconds pass without one.
        """
        deadline = time.monotonic() + within_s
        with self._changed:
            while True:
                while self._events:
                    event = self._events.popleft()
                    if event.get("event") == "error":
                        raise _error(event)
                    if event.get("event") in wanted:
                        return event
                if self._failure is not None:
                    raise GeneratorError(
                        f"an event of the load generator could not be used: {self._failure}"
                    ) from self._failure
                if self._ended:
                    raise GeneratorError(self.obituary(), self._where())
                if not self._changed.wait(deadline - time.monotonic()):
                    kinds = " or ".join(sorted(wanted))
                    raise GeneratorError(
                        f"the load generator did not say `{kinds}` for {within_s:g} s",
                        self._where(),
                    )

    def terminate(self) -> None:
        """Have the process leave off what it does and end; `close` still has to be called."""
        if self._process.poll() is None:
            self._process.terminate()

    def close(self, last_words: Mapping[str, Any]) -> int:
        """End the process, gently if it lets us, and return its exit code. Safe to repeat."""
        if self._process.poll() is None:
            with contextlib.suppress(GeneratorError):  # it is ended by other means
                self.send(last_words)
            self._close_stdin()
            self._end()
        self._close_stdin()
        self._reader.join(_GRACE_S)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()
        return self._process.wait()

    def _end(self) -> None:
        for urge in (None, self._process.terminate, self._process.kill):
            if urge is not None:
                urge()
            try:
                self._process.wait(_GRACE_S)
                return
            except subprocess.TimeoutExpired:
                continue

    def _close_stdin(self) -> None:
        # What was left to flush may have no reader any more.
        with self._writing, contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _read(self) -> None:
        assert self._process.stdout is not None  # we asked for a pipe
        for line in self._process.stdout:
            received = time.monotonic()
            try:
                event = json.loads(line)
                kept = self._on_event(event, received)
            except Exception as error:
                # Whatever it was, the thread that waits has to learn of it.
                with self._changed:
                    self._failure = self._failure or error
                    self._changed.notify_all()
                continue
            if not kept:
                with self._changed:
                    self._events.append(event)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def obituary(self) -> str:
        """Say how the process ended, with the last that it wrote to stderr."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "the load generator closed its output and is still there"
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        last_words = _last_lines(self._log)
        return f"the load generator ended ({how})" + (f": {last_words}" if last_words else "")

    def _where(self) -> str:
        return f"see `{self._log}`"


def _error(event: Event) -> GeneratorError:
    where = event.get("where", "")
    message = str(event.get("message", "unknown error"))
    return GeneratorError(f"load generator, {where}: {message}", str(event.get("hint", "")))


def _last_lines(log: Path, limit: int = 500) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - limit), os.SEEK_SET)
            text = file.read().decode(errors="replace").strip()
    except OSError:
        return ""
    return " / ".join(text.splitlines()[-3:])
