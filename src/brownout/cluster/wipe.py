"""Emptying a data directory of this machine: first every reason not to, then the removal.

Nothing here knows whose directory it is. That the node is stopped and that its own configuration
names the directory is for the callers to show.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from brownout.cluster.procfs import users_of
from brownout.errors import HostError, Refused

__all__ = ["Emptied", "check", "emptied_evidence", "empty", "holds", "same_or_nested"]

_SYSTEM = frozenset(
    Path("/", name)
    for name in (
        *("", "bin", "boot", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt"),
        *("opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "usr/local", "var"),
        *("var/lib", "var/log", "var/tmp"),
    )
)


def emptied_evidence(directory: PurePath, files: int, size_bytes: int) -> dict[str, Any]:
    """Return for JSON what was in a directory that is proven empty."""
    return {
        "directory": str(directory),
        "files_removed": files,
        "bytes_removed": size_bytes,
        "entries_left": 0,
    }


@dataclass(frozen=True, slots=True)
class Emptied:
    """One directory that was emptied: what was in it, and between which moments it became empty.

    Times are `time.monotonic()`.
    """

    directory: Path
    files: int
    size_bytes: int
    last_not_empty: float
    first_empty: float

    def evidence(self) -> dict[str, Any]:
        """Return it for JSON."""
        return emptied_evidence(self.directory, self.files, self.size_bytes)


def check(directory: Path, keep: Iterable[Path]) -> Path:
    """Return the real path of `directory` if it may be emptied; `keep` are paths not to lose.

    Raises `Refused` with the reason otherwise; nothing is touched.
    """
    _check_path(directory)
    real = directory.parent.resolve() / directory.name
    _check_place(real)
    _check_mounts(real)
    for path in keep:
        if holds(real, path):
            raise _refused(real, f"`{path}`, which must survive, lies in it")
    _check_contents(real)
    users = users_of(real)
    if users:
        who = ", ".join(map(str, users))
        raise _refused(real, f"in use by process {who}", "stop what uses it first")
    return real


def empty(directory: Path) -> Emptied:
    """Remove everything in `directory`, keep it, and prove that nothing is left.

    Works relative to the opened directory, so exchanging it for a link meanwhile has no effect.
    """
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        sizes = list(_file_sizes(fd))
        last_not_empty = time.monotonic()
        for name in _names(fd):
            last_not_empty = time.monotonic()
            _remove(name, fd)
        os.fsync(fd)
        left = _names(fd)
        first_empty = time.monotonic()
    except OSError as error:
        raise HostError(f"`{directory}` could not be emptied: {error}") from error
    finally:
        os.close(fd)
    if left:
        raise HostError(f"`{directory}` is not empty after its wipe: {', '.join(left[:5])}")
    return Emptied(directory, len(sizes), sum(sizes), last_not_empty, first_empty)


def holds(directory: Path, path: Path) -> bool:
    """Whether `path` is `directory` or lies in it, links resolved."""
    return path.resolve().is_relative_to(directory.resolve())


def _check_path(directory: Path) -> None:
    if not directory.is_absolute() or ".." in directory.parts:
        raise _refused(directory, "wanted an absolute path without `..`")
    if directory.is_symlink():
        raise _refused(directory, f"it is a symbolic link to `{directory.readlink()}`")
    if not directory.exists():
        raise _refused(directory, "it does not exist")
    if not directory.is_dir():
        raise _refused(directory, "it is not a directory")


def _check_place(real: Path) -> None:
    if real.resolve() in _SYSTEM or real == Path.home():
        raise _refused(real, "it belongs to the system or is a home directory")
    owner, we = real.stat().st_uid, os.geteuid()
    if we not in (0, owner):
        raise _refused(real, f"it belongs to user id {owner}, not to ours ({we})")


def _check_mounts(real: Path) -> None:
    for mount in _mount_points():
        if mount == real:
            raise _refused(real, "it is a mount point", "wipe a directory on that file system")
        if mount.is_relative_to(real):
            raise _refused(real, f"another file system is mounted in it at `{mount}`")


def _check_contents(real: Path) -> None:
    for place, directories, files in os.walk(real):
        for name in (*directories, *files):
            path = Path(place, name)
            if path.is_symlink():
                raise _refused(
                    real, f"it holds the link `{path}`, whose target would keep its data"
                )


def _mount_points() -> list[Path]:
    """Return what is mounted where; the kernel writes spaces and the like as `\\040`."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    raw = [line.split()[4] for line in lines]
    return [Path(point.encode().decode("unicode_escape")) for point in raw]


def _file_sizes(fd: int) -> Iterator[int]:
    for _, _, files, place in os.fwalk(".", dir_fd=fd):
        for name in files:
            yield os.stat(name, dir_fd=place, follow_symlinks=False).st_size


def _names(fd: int) -> list[str]:
    with os.scandir(fd) as entries:
        return sorted(entry.name for entry in entries)


def _remove(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=fd)


def _refused(directory: Path, reason: str, hint: str = "") -> Refused:
    return Refused(f"`{directory}` is not wiped: {reason}", hint)


def same_or_nested(directories: Sequence[Path], other: Path) -> bool:
    """Whether `other` is one of `directories`, lies in one, or holds one.

    As written, or with links resolved: the paths may be another machine's.
    """
    return any(_nested(own, other) or _nested(other, own) for own in directories)


def _nested(directory: Path, path: Path) -> bool:
    return path.is_relative_to(directory) or holds(directory, path)
