"""Processes of this machine, read from /proc: who one is, and what it does.

A process is known by its id, its start time and its command line. The id alone is never enough:
the kernel gives it to the next one.

A process that cannot be looked at has not ended: only the kernel's own answer that it is not there
says so, and anything else raises `HostError`.
"""

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.wait import wait_until

__all__ = [
    "HIDDEN_HINT", "Handle", "Identity", "find", "hidden_words", "identify", "is_alive",
    "is_hidden", "thread_states", "users_of",
]  # fmt: skip

_PROC = Path("/proc")
#: How often the end of a process is looked for; the uncertainty of its time.
POLL_S = 0.002
#: So long a process may be without a command line while the kernel reads its program.
_READ_S = 0.25
HIDDEN_HINT = "use the server's own account, or mount /proc with `gid=` of a group of this one"
#: What the kernel answers about a process that is not there.
_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True, slots=True)
class Identity:
    """One process for good: `started` is in clock ticks since the machine booted."""

    pid: int
    started: int
    command: tuple[str, ...]

    def runs(self, command: Sequence[str]) -> bool:
        """Whether this is `command`, maybe by another path to it or through an interpreter."""
        own = self.command[-len(command) :]
        if len(own) != len(command) or own[1:] != tuple(command[1:]):
            return False
        return Path(own[0]).name == Path(command[0]).name


def identify(pid: int) -> Identity | None:
    """Return the process that has `pid` now; None if there is none or it has ended.

    Raises `HostError` where it cannot be looked at.
    """
    try:
        started = _start_time(pid)
        words = _command_line(pid).split(b"\0")[:-1]
    except (*_GONE, ValueError, IndexError):
        return None
    except OSError as error:
        raise _unseen(pid, error) from error
    identity = Identity(pid, started, tuple(os.fsdecode(word) for word in words))
    return identity if is_alive(identity) else None


def is_hidden(pid: int) -> bool:
    """Whether another account's process has `pid` and /proc does not show it to us (`hidepid`).

    Source: proc(5), "hidepid".
    """
    with contextlib.suppress(OSError):
        (_PROC / str(pid) / "stat").stat()
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return False


def hidden_words(pid: int) -> str:
    """Say that a process `is_hidden`."""
    return f"process {pid} is hidden from our account, as /proc is mounted with `hidepid`"


def find(command: Sequence[str]) -> list[Identity]:
    """Return every live process that runs `command`."""
    last = os.fsencode(command[-1])
    # Most processes are told by a word of their command line, without a look at their threads.
    identities = [identify(pid) for pid in _pids() if last in _command_line(pid)]
    return [identity for identity in identities if identity and identity.runs(command)]


def is_alive(identity: Identity) -> bool:
    """Whether that very process still exists.

    A zombie has ended, but only once its last thread has: the first thread may be a zombie while
    others still hold the files open. Raises `HostError` where it cannot be looked at.
    """
    try:
        fields = _fields(_PROC / str(identity.pid) / "stat")
        if int(fields[19]) != identity.started:
            return False
        ended = fields[0] in "ZX"
        return not ended or not thread_states(identity.pid) <= {"Z", "X"}
    except (*_GONE, ValueError, IndexError):
        return False
    except OSError as error:
        raise _unseen(identity.pid, error) from error


def thread_states(pid: int) -> frozenset[str]:
    """Return the kernel's state letters of all threads of `pid`; `T` is a stopped one.

    Raises `FileNotFoundError` or `ProcessLookupError` where it is not there, and `HostError` where
    it cannot be looked at.
    """
    states = set()
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(*_GONE):  # that thread ended in between
                states.add(_fields(task / "stat")[0])
    except _GONE:
        raise
    except OSError as error:
        raise _unseen(pid, error) from error
    return frozenset(states)


def users_of(directory: Path) -> list[int]:
    """Return the ids of processes that have a file open, or work, in `directory`.

    Those of other accounts may be hidden from us. Raises `HostError` where none can be looked at.
    """
    inside = os.fspath(directory) + os.sep
    return sorted(
        pid
        for pid in _pids()
        if any((path + os.sep).startswith(inside) for path in _paths_in_use(pid))
    )


class Handle:
    """A hold on one process by a file descriptor of the kernel's: its id cannot be reused under us.

    Raises `HostError` if the process is not the identity that it is meant to be any more.
    """

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        try:
            self._fd = os.pidfd_open(identity.pid)
        except OSError as error:
            raise HostError(
                f"process {identity.pid} cannot be reached: {error.strerror}"
            ) from error
        # Only now is the id pinned: what was read before may have been of an earlier process.
        if identify(identity.pid) != identity:
            self.close()
            raise HostError(f"process {identity.pid} ended or is another one now")

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the handle; the process keeps running."""
        os.close(self._fd)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to exactly this process."""
        try:
            signal.pidfd_send_signal(self._fd, number)
        except ProcessLookupError:
            pass  # it ended by itself, which `wait_gone` will see
        except PermissionError as error:
            raise HostError(
                f"{number.name} to process {self.identity.pid} is not permitted",
                "run as the process's own user",
            ) from error

    def wait_gone(self, timeout_s: float) -> tuple[float, float] | None:
        """Wait for the end of all its threads; return when it last was and first was not there.

        Both are `time.monotonic()`; None if it is still there after `timeout_s`.
        """
        poller = select.poll()
        poller.register(self._fd, select.POLLIN)
        last_there = time.monotonic()
        deadline = last_there + timeout_s
        while not poller.poll(POLL_S * 1000):
            last_there = time.monotonic()
            if last_there > deadline:
                return None
        gone = time.monotonic()
        self._reap()
        return last_there, gone

    def _reap(self) -> None:
        """Collect it if it is our child, or it would stay in the process table.

        No other process can have its id before that, so this collects no other child.
        """
        with contextlib.suppress(ChildProcessError):  # not our child
            os.waitpid(self.identity.pid, os.WNOHANG)


def _fields(stat: Path) -> list[str]:
    """Return a stat file's fields from the state on; the name before it may hold anything."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _command_line(pid: int) -> bytes:
    """Return its words, each with a zero byte after it; nothing where it has ended.

    A process that has just been given its program has none for a moment. Kernel threads and what
    has ended have no program either.
    """
    process = _PROC / str(pid)

    def look() -> bytes | None:
        try:
            words = (process / "cmdline").read_bytes()
            if not words:
                (process / "exe").readlink()
        except (*_GONE, PermissionError):  # another account's may be hidden from us
            return b""
        except OSError as error:
            raise _unseen(pid, error) from error
        return words or None

    return wait_until(look, _READ_S, POLL_S, so=lambda words: words is not None) or b""


def _start_time(pid: int) -> int:
    return int(_fields(_PROC / str(pid) / "stat")[19])


def _pids() -> list[int]:
    try:
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError as error:
        raise HostError(f"{_PROC} cannot be looked at: {error.strerror}") from error


def _paths_in_use(pid: int) -> list[str]:
    """Return the paths a process holds, as far as we may look."""
    process = _PROC / str(pid)
    links = [process / "cwd"]
    paths = []
    try:
        with contextlib.suppress(*_GONE, PermissionError):
            links += (process / "fd").iterdir()
        for link in links:
            with contextlib.suppress(OSError):  # a path may be too long to be told
                paths.append(os.fspath(link.readlink()))
    except OSError as error:
        raise _unseen(pid, error) from error
    return paths


def _unseen(pid: int, error: OSError) -> HostError:
    full = error.errno in (errno.EMFILE, errno.ENFILE)
    hint = "raise the limit on open files (`ulimit -n`)" if full else ""
    return HostError(f"process {pid} cannot be looked at: {error.strerror}", hint)
