"""One process at a time: a lock on a file, which the kernel releases when its holder dies."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from brownout.base.wait import wait_until

__all__ = ["NO_LOCKS", "Held", "Lock", "holder_of", "is_locked"]

#: What a file system without locks answers: flock(2).
NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})

#: Who only looks whether a lock is held holds it for a moment.
_LOOK_EVERY_S: Final = 0.02
_MOST_BYTES: Final = 4096


class Held(Exception):
    """Another process has the lock; `holder` is what that one wrote about itself."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"held by {holder}")
        self.holder = holder


class Lock:
    """A lock on `path`; a context that takes it. `holder` tells others who has it."""

    def __init__(self, path: Path, holder: str = "") -> None:
        self._path = path
        self._holder = holder or f"process {os.getpid()}"
        self._handle: int | None = None

    def take(self, within_s: float = 0.0, waiting: Callable[[], object] = lambda: None) -> Self:
        """Take it; `waiting` is called once if it has to be waited for.

        Raises `Held` where another process still has it after `within_s` seconds, and `OSError`
        where the file cannot be made or its file system knows no locks.
        """
        if not self._try():
            waiting()
            if not wait_until(self._try, within_s, _LOOK_EVERY_S):
                raise Held(holder_of(self._path) or "another process")
        assert self._handle is not None
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, self._holder.encode(), 0)
        return self

    def release(self, *, remove: bool = False) -> None:
        """Release it, and `remove` its file where it is not needed any more."""
        if self._handle is not None:
            if remove:
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self if self._handle is not None else self.take()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _try(self) -> bool:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(self._path, handle):
                self._handle, handle = handle, -1
                return True
        except BlockingIOError:
            pass
        finally:
            if handle >= 0:
                os.close(handle)
        return False


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock on `path`; False on a file system without locks.

    Raises `OSError` where the file cannot be looked at.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # a shared lock needs no more
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno in NO_LOCKS:
            return False
        raise
    finally:
        os.close(handle)


def holder_of(path: Path) -> str:
    """Return what the holder of the lock said of itself, or the last one; empty if unknown."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode(errors="replace").strip()
    except OSError:
        return ""


def _is_still(path: Path, handle: int) -> bool:
    """Whether what was locked is the file at `path`: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
