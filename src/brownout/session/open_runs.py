"""Which run has a cluster in its hands: one at a time, and known after a crash.

A claim is a small file outside the run directory, written before anything is touched and removed
when the run has ended and put everything back. It names the run, so that `brownout heal` finds
what a run that died had broken.

Beside it the process of the run holds a lock. The process ids of another container, whose state is
on the same volume, cannot be seen from here; that its lock is held can.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from brownout.cluster import procfs
from brownout.errors import Refused, RunDirectoryError

__all__ = ["Claim", "check_free", "check_over", "claim", "claims", "release", "state_home"]

#: Who only looks whether a lock is held holds it for a moment.
_LOOKED_WITHIN_S, _LOOK_AGAIN_S = 1.0, 0.02
#: The locks of this process, by cluster; they end with it.
_locks: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Claim:
    """A run's hold on a cluster. `inventory` is what `inventory.declared` takes to find it."""

    cluster: str
    run: str
    inventory: str
    brought_up: bool
    pid: int
    started: int
    command: tuple[str, ...]

    def is_alive(self) -> bool:
        """Whether the process that runs it still exists, be it in another container."""
        me = procfs.Identity(self.pid, self.started, self.command)
        return procfs.is_alive(me) or _is_locked(self.cluster)


def state_home() -> Path:
    """Where brownout keeps what outlives a run: BROWNOUT_STATE, else under the XDG state home."""
    if given := os.environ.get("BROWNOUT_STATE"):
        return Path(given)
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "brownout"


def check_free(cluster: str) -> None:
    """Raise `Refused` where another run has `cluster` or died holding it."""
    if _path(cluster).exists():
        raise _refusal(_read(_path(cluster)))


def claim(cluster: str, run: Path, inventory: str, brought_up: bool) -> Claim:
    """Take `cluster` for `run`; raises `Refused` where another run has it or died holding it."""
    me = procfs.identify(os.getpid())
    if me is None:
        raise RunDirectoryError("this process cannot be read from /proc")
    mine = Claim(cluster, str(run.resolve()), inventory, brought_up, me.pid, me.started, me.command)
    path = _path(cluster)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{me.pid}")
    _write(draft, json.dumps(asdict(mine)))
    try:
        check_free(cluster)
        _lock(cluster)
        os.link(draft, path)  # fails where one is there: two runs cannot both have it
    except FileExistsError:
        _unlock(cluster)
        raise _refusal(_read(path)) from None
    finally:
        draft.unlink()
    _sync(path.parent)
    return mine


def claims() -> list[Claim]:
    """Return every claim there is, of living and of dead runs."""
    return [_read(path) for path in sorted(_directory().glob("*.json"))]


def check_over(run: Path) -> None:
    """Raise `Refused` while `run` goes on, or where it died and is not healed yet."""
    here = str(run.resolve())
    for held in claims():
        if held.run == here:
            alive = held.is_alive()
            state = "goes on" if alive else "died before it had put everything back"
            raise Refused(
                f"the run {run.name} {state}, so its files are not final",
                "wait for its end" if alive else "`brownout heal` it first",
            )


def release(cluster: str) -> None:
    """Let go of `cluster`: everything is put back."""
    _path(cluster).unlink(missing_ok=True)
    _unlock(cluster)
    if _directory().is_dir():
        _sync(_directory())


def _refusal(held: Claim) -> Refused:
    if held.is_alive():
        return Refused(
            f"cluster `{held.cluster}` is in the hands of the run {held.run} (process {held.pid})",
            "wait for it, or `brownout abort` it",
        )
    return Refused(
        f"the run {held.run} on cluster `{held.cluster}` died before it had put everything back",
        f"`brownout heal {held.cluster}` does that",
    )


def _directory() -> Path:
    return state_home() / "open"


def _path(cluster: str) -> Path:
    return _directory() / f"{cluster}.json"


def _lock(cluster: str) -> None:
    """Hold the cluster's lock as long as this process lives; `Refused` where another one has it."""
    handle = os.open(_lock_file(cluster), os.O_RDWR | os.O_CREAT, 0o644)
    retrying = Retrying(
        retry=retry_if_exception_type(BlockingIOError),
        stop=stop_after_delay(_LOOKED_WITHIN_S),
        wait=wait_fixed(_LOOK_AGAIN_S),
    )
    try:
        retrying(fcntl.flock, handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except RetryError:
        os.close(handle)
        raise Refused(f"another run is just taking cluster `{cluster}`", "wait for it") from None
    except OSError:  # a file system without locks: then only processes of this machine are seen
        os.close(handle)
        return
    _locks[cluster] = handle


def _unlock(cluster: str) -> None:
    if (handle := _locks.pop(cluster, None)) is not None:
        os.close(handle)


def _is_locked(cluster: str) -> bool:
    try:
        handle = os.open(_lock_file(cluster), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _lock_file(cluster: str) -> Path:
    return _directory() / f"{cluster}.lock"


def _read(path: Path) -> Claim:
    try:
        data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Claim(**{**data, "command": tuple(data["command"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunDirectoryError(
            f"{path}: not a claim of a run: {error}",
            "see whether a run is going on; if none is, remove the file",
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be written: {error.strerror}") from error


def _sync(directory: Path) -> None:
    """Make the directory's entries survive a power cut too."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
