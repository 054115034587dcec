"""Files that only their owner reads, and files that are written in one step.

What a run writes tells of its cluster, so it is private whatever the umask is. What is there
already keeps its mode: it may be shared on purpose.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from brownout.base.errors import RunDirectoryError

__all__ = [
    "PRIVATE",
    "SHARED",
    "is_file",
    "private_directory",
    "private_file",
    "replace_file",
    "replacing",
]
__all__ += ["user_state"]

#: Modes of a file: for its owner alone, or for all whom the umask lets read it.
PRIVATE: Final = 0o600
SHARED: Final = 0o666


def user_state() -> Path:
    """Return where brownout keeps what outlives a run: below the XDG state home."""
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "brownout"


def is_file(path: Path) -> bool:
    """Return whether there is such a file; no file has a name that is too long or holds a NUL."""
    try:
        return path.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def private_directory(path: Path) -> Path:
    """Return `path` as a directory, made with mode 0700 where it is missing; so are its parents."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    return path


def private_file(path: Path) -> Path:
    """Return `path` as a file to open for writing, made with mode 0600 where it is missing."""
    with suppress(FileExistsError):
        os.close(_new(path, PRIVATE))
    return path


def replace_file(path: Path, content: str | bytes, mode: int = PRIVATE) -> None:
    """Write `path` in one step; raises `RunDirectoryError` as `replacing` does."""
    with replacing(path, mode) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[Path]:
    """Yield a file beside `path` to write to, which takes its place where the block ends well.

    A reader sees the old file or the new one and never half of one, after a power cut too. Raises
    `RunDirectoryError` where it cannot be written, as on a full disk; nothing is left then.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        os.close(_new(beside, mode))
        yield beside
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise RunDirectoryError(
            f"{path}: cannot be written: {error.strerror or error}",
            "free some space or check permissions",
        ) from error
    finally:
        with suppress(OSError):  # a read-only place, or none any more
            beside.unlink()


def _new(path: Path, mode: int) -> int:
    """Open a file that is not there yet; `mode` less what the umask takes away."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
