"""A generator in a pod as a process of ours: its streams are pipes here, pumped by one thread.

What it writes on its stderr goes to a file here; so does what became of its pod, if it ended
without being told to. It has ended for us once it said `ended`, though it may stay there until its
files have been fetched.
"""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from brownout.base.errors import BrownoutError
from brownout.base.files import private_file
from brownout.kubernetes.access import Access
from brownout.load.kubernetes.stream import BLOCK, Broken, PodStream

__all__ = ["LOST", "Attached"]

#: When the connection broke, or the pod was lost, and the end of the process is unknown.
LOST: Final = 255
_TURN_S = 1.0

#: It may have greeted long before we came.
_HELLO = b'{"cmd": "hello"}\n'


class Attached:
    """The process of one pod, in the manner of `subprocess.Popen`.

    `lost` says what became of the pod and how its process ended, told whether it said so itself;
    `end` is how it can be told to end beside its input.
    """

    def __init__(
        self,
        access: Access,
        pod: str,
        log: Path,
        *,
        lost: Callable[[bool], tuple[str, int | None]],
        end: Callable[[], None],
    ) -> None:
        self.pid = 1  # in its pod
        self._lost, self._end, self._log = lost, end, log
        self._returncode: int | None = None
        self._over, self._given_up = threading.Event(), threading.Event()
        self._asked_to_end = False
        private_file(log)
        self._stream = PodStream(access, pod)
        self._input, theirs_in = os.pipe()
        ours_out, self._output = os.pipe()
        self.stdin: IO[bytes] | None = os.fdopen(theirs_in, "wb", buffering=0)
        self.stdout: IO[bytes] | None = os.fdopen(ours_out, "rb")
        self._line = b""
        self._pump = threading.Thread(target=self._run, name=f"pod {pod}", daemon=True)
        self._pump.start()

    def poll(self) -> int | None:
        """Return how it ended; None while it runs."""
        return self._returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises `subprocess.TimeoutExpired`."""
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired("the generator in a pod", timeout or 0.0)
        assert self._returncode is not None
        return self._returncode

    def terminate(self) -> None:
        """Have it drain, complete its files and end."""
        self._asked_to_end = True
        try:
            self._end()
        except BrownoutError as error:
            self._note(str(error))

    def kill(self) -> None:
        """Give it up: its Job's removal ends what does not listen."""
        self._given_up.set()

    def _run(self) -> None:
        """Pump until it says that it has ended, or the connection is over; then say how."""
        code, why = None, ""
        try:
            self._stream.send(_HELLO)
            code = self._pumped()
        except Broken as error:
            why = str(error)
        except Exception as error:
            # Whatever it was, who waits for the process has to learn of it.
            why = f"our end of the pod's streams: {error!r}"
        finally:
            self._stream.close()
        if code is None or not self._asked_to_end:
            code = self._lost_with(code, why)
        self._returncode = code
        for descriptor in (self._input, self._output):
            os.close(descriptor)
        self._over.set()

    def _pumped(self) -> int | None:
        """Return the code that the generator said at its end; None if the stream ended without."""
        listening: int | None = self._input
        while self._stream.open and not self._given_up.is_set():
            if self._stream.wait(_TURN_S, listening) and listening is not None:
                if data := os.read(listening, BLOCK):
                    self._stream.send(data)
                else:
                    listening, self._asked_to_end = None, True
                    self._stream.end_input()
            if (code := self._delivered()) is not None:
                return code
        return None

    def _delivered(self) -> int | None:
        """Hand on what came; return the exit code, if that was among it."""
        if self._stream.err:
            self._append(bytes(self._stream.err))
            self._stream.err.clear()
        data = bytes(self._stream.out)
        self._stream.out.clear()
        _write_all(self._output, data)
        *lines, self._line = (self._line + data).split(b"\n")
        return next((code for line in lines if (code := _ended(line)) is not None), None)

    def _lost_with(self, code: int | None, why: str) -> int:
        """Write down what became of the pod, and return how its process ended as far as known."""
        try:
            became, its_code = self._lost(code is not None)
        except BrownoutError as error:
            became, its_code = str(error), None
        if why or became:
            self._note("; ".join(part for part in (why, became) if part))
        status = code if code is not None else its_code
        return LOST if status is None else status

    def _note(self, text: str) -> None:
        self._append(f"{text}\n".encode())

    def _append(self, data: bytes) -> None:
        with self._log.open("ab") as log:
            log.write(data)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _ended(line: bytes) -> int | None:
    """Return the code of an `ended` event; None for any other line."""
    if b'"ended"' not in line:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or event.get("event") != "ended":
        return None
    code = event.get("code")
    return code if isinstance(code, int) else LOST
