"""Temporary folders that the next heal removes where their process was killed.

Each holds a locked file as long as its process lives, in whichever container that is.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brownout.base.locks import Lock, is_locked

__all__ = ["remove_left", "scratch"]

_PREFIX: Final = "brownout-"
_LOCK: Final = ".in-use"


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Yield a new folder under TMPDIR, and remove it when the block ends."""
    place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
    lock = Lock(place / f"{_LOCK}-soon")
    try:
        with lock.take():
            (place / f"{_LOCK}-soon").rename(place / _LOCK)  # it is there only while it is locked
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_left() -> list[Path]:
    """Remove and return our user's folders under TMPDIR whose process has ended without it.

    What cannot be looked at stays.
    """
    try:
        left = [p for p in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*") if _is_left(p)]
    except OSError:  # on a full disk there may be no TMPDIR
        return []
    for place in left:
        shutil.rmtree(place, ignore_errors=True)
    return left


def _is_left(place: Path) -> bool:
    try:
        return (
            not place.is_symlink()
            and place.stat().st_uid == os.geteuid()
            and (place / _LOCK).is_file()
            and not is_locked(place / _LOCK)
        )
    except OSError:  # it is gone by now
        return False
