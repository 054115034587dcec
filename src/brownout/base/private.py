"""Directories and files that only their owner reads: what a run writes tells of its cluster.

Whatever the umask is. What is there already keeps its mode: somebody may share it on purpose.
"""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["private_directory", "private_file"]


def private_directory(path: Path) -> Path:
    """Return `path` as a directory, made with mode 0700 where it is missing; so are its parents."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    return path


def private_file(path: Path) -> Path:
    """Return `path` as a file to open for writing, made with mode 0600 where it is missing."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return path
