"""Hearing when a process in a container ends, to within some milliseconds.

The kubelet's own times are whole seconds, and they come late. So a small shell in the container is
asked again and again whether the process lives. A yes proves that it did after we had asked. A no,
or the end of the shell, which the end of the container's first process brings about, is its end:

    ours   asked 7 ──▶ "yes 7"    asked 8 ──▶ "gone", or the connection ends
           alive at some time after this            ended before this

That a connection ended for no other reason is for the caller to confirm.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.kubernetes.access import Access
from brownout.machine.kubernetes.session import LOST, opened
from brownout.machine.processes import FUNCTIONS, Process

__all__ = ["Bell", "hung"]

_POLL_S = 0.01
_ANSWER_S = 10.0
_STDOUT = 1

#: `$1` process, `$2` its start. Each line that it reads is a question.
_SHELL = f"""{FUNCTIONS}
while IFS= read -r question; do
  alive "$1" "$2" || {{ echo gone; exit 0; }}
  echo "yes $question"
done
"""


class Bell:
    """Asks one process in one session; `hung` makes it."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._last_yes = 0.0
        self._asked = 0

    def ask(self, until: float) -> bool:
        """Return whether the process lives; a session that ended says no.

        Raises `HostError` if there is no answer by `until`, on `time.monotonic()`.
        """
        self._asked += 1
        wanted, asked = f"yes {self._asked}".encode(), time.monotonic()
        try:
            self._session.write_stdin(f"{self._asked}\n".encode())
            line = self._session.readline_channel(_STDOUT, timeout=max(0.0, until - asked))
        except LOST:
            return False
        if line == wanted:
            self._last_yes = asked
            return True
        if line or not self._session.is_open():
            return False
        raise HostError("no answer whether the process lives")

    def wait_gone(self, timeout_s: float) -> tuple[float, float] | None:
        """Return when the process was last known to live, and when it was gone; None in time.

        Both are on `time.monotonic()`.
        """
        gone = wait_until(lambda: not self.ask(time.monotonic() + _ANSWER_S), timeout_s, _POLL_S)
        return (self._last_yes, time.monotonic()) if gone else None


@contextmanager
def hung(access: Access, pod: str, container: str, process: Process) -> Iterator[Bell]:
    """Yield a bell on a process that lives; `HostError` if it does not."""
    words = ["brownout-bell", str(process.pid), str(process.started)]
    with opened(access, pod, container, ["/bin/sh", "-c", _SHELL, *words]) as session:
        bell = Bell(session)
        if not bell.ask(time.monotonic() + _ANSWER_S):
            raise HostError(f"pod {access.namespace}/{pod}: process {process.pid} ended by itself")
        yield bell
