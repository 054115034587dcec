"""Real block devices and file systems for tests: loop devices over files."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.waiting import await_true, state_of

SIZE = 8 << 20
_BY_ID = Path("/dev/disk/by-id")
_LOCK = Path(tempfile.gettempdir()) / "brownout-tests-loop-devices.lock"
#: One for each loop device that this process has.
_held: list[None] = []


@dataclass(frozen=True)
class Loop:
    """One loop device: `/dev/loop3`, its stable name below /dev/disk/by-id, and its file."""

    device: Path
    stable: Path
    file: Path

    def filled(self) -> "Loop":
        """Fill it with what is not zero, to the last byte."""
        self.device.write_bytes(b"\xa5" * SIZE)
        return self

    def reads_zero(self) -> bool:
        """Whether every byte of it is zero, read past the cache."""
        subprocess.run(["blockdev", "--flushbufs", str(self.device)], check=True)
        data = self.device.read_bytes()
        return len(data) == SIZE and not any(data)

    def untouched(self) -> bool:
        """Whether it holds what `filled` wrote."""
        return self.device.read_bytes() == b"\xa5" * SIZE


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let no other process of the tests look at loop devices meanwhile.

    `losetup --find` and `blkid` open those of others for a moment, and a device that is open in
    a process is rightly refused. One process may have several.
    """
    _held.append(None)
    try:
        with contextlib.ExitStack() as lock:
            if len(_held) == 1:
                file = lock.enter_context(_LOCK.open("w"))
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
    finally:
        _held.pop()


@contextlib.contextmanager
def loop_device(directory: Path, contents: bytes = b"", *options: str) -> Iterator[Loop]:
    """Make a loop device that begins with `contents`; skip the test where there are none."""
    if os.geteuid() or not shutil.which("losetup"):
        pytest.skip("loop devices need root and losetup (apt-get install -y mount)")
    with _alone():
        yield from _loop_device(directory, contents, *options)


def _loop_device(directory: Path, contents: bytes, *options: str) -> Iterator[Loop]:
    file = directory / "disk.img"
    file.write_bytes(contents + bytes(SIZE - len(contents)))
    made = subprocess.run(
        ["losetup", "--show", "--find", *options, str(file)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"this machine gives no loop device: {made.stderr.strip()}")
    device = Path(made.stdout.strip())
    stable = _BY_ID / f"brownout-test-{os.getpid()}-{device.name}"
    missing = [parent for parent in (_BY_ID, _BY_ID.parent) if not parent.exists()]
    try:
        _BY_ID.mkdir(parents=True, exist_ok=True)
        stable.symlink_to(device)
        yield Loop(device, stable, file)
    finally:
        stable.unlink(missing_ok=True)
        for parent in missing:
            with contextlib.suppress(OSError):
                parent.rmdir()
        subprocess.run(["losetup", "--detach", str(device)], check=True)


@contextlib.contextmanager
def file_system(directory: Path) -> Iterator[Path]:
    """Mount a small file system of its own; gone afterwards, thawed if a test left it frozen."""
    image, point = directory / "disk.img", directory / "disk"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-qF", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["fsfreeze", "-u", str(point)], capture_output=True)
        while _writers:
            _writers.pop().wait()
        subprocess.run(["umount", str(point)], check=True)


def is_frozen(point: Path) -> bool:
    """Whether a write to it waits; it is through at once where it does not, and leaves nothing."""
    writer = subprocess.Popen(["touch", "-a", "-c", str(point)])
    _writers.append(writer)
    await_true(lambda: state_of(writer.pid) in "DZ", "the end of a write")
    return state_of(writer.pid) == "D"


#: Those that wait end with the thaw.
_writers: list[subprocess.Popen[bytes]] = []
