"""Emptying a data directory of this machine, once `directories` has nothing against it.

Nothing here knows whose directory it is. That the node is stopped and that its own configuration
names the directory is for the callers to show.
"""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError
from brownout.machine.directories import Facts, emptied_evidence

__all__ = ["Emptied", "empty", "same_or_nested"]


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


def empty(facts: Facts) -> Emptied:
    """Remove everything in a checked directory, keep it, and prove that nothing is left.

    Works relative to the opened directory, so exchanging it for a link meanwhile has no effect.
    """
    directory = Path(facts.real or facts.path)
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        opened = os.fstat(fd)
        if f"{opened.st_dev}:{opened.st_ino}" != facts.identity:
            raise HostError(f"`{directory}` is not wiped: it was exchanged for another one")
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


def same_or_nested(directories: Sequence[Path], other: Path) -> bool:
    """Whether `other` is one of `directories`, lies in one, or holds one.

    As written, or with links resolved: the paths may be another machine's.
    """
    return any(_nested(own, other) or _nested(other, own) for own in directories)


def _nested(directory: Path, path: Path) -> bool:
    resolved = path.resolve().is_relative_to(directory.resolve())
    return path.is_relative_to(directory) or resolved
