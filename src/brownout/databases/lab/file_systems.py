"""File systems of a lab's own: each node's data on an ext4 of its own, so that a disk can fail.

    <lab>/disks/n1.img     a sparse file ──▶ a loop device ──▶ mounted at <lab>/n1/disk
    <lab>/n1/disk/data     the node's data; its log and its configuration stay beside `disk`

What a lab that crashed left is found by its directory, in the kernel's list of mounts and of loop
devices, and nothing else is ever touched. A file system is thawed before it is unmounted.
"""

import operator
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from brownout.base.errors import HostError, UndoFailed, Unsupported
from brownout.base.wait import wait_until
from brownout.databases.lab.settings import DiskLab
from brownout.machine import directories
from brownout.machine.capabilities import CAP_SYS_ADMIN, may

__all__ = ["left", "places", "remove", "thaw", "why_not"]

_MOUNTS = Path("/proc/self/mountinfo")
_LOOPS = Path("/sys/block")
_FREE_WITHIN_S, _POLL_S = 20.0, 0.05
_TOOLS = ("mkfs.ext4", "mount", "umount", "losetup", "fsfreeze")
#: Nothing here takes time or fills the sparse file; no block is kept for root.
_MAKE = ("mkfs.ext4", "-q", "-F", "-m0", "-b4096")
_LAZILY = ("-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard")


def why_not() -> str:
    """Return why this machine cannot give nodes file systems of their own; empty if it can."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on PATH (Debian: e2fsprogs, mount, util-linux)"
    if not may(CAP_SYS_ADMIN):
        return "loop devices and mounts want root, or CAP_SYS_ADMIN"
    if not Path("/dev/loop-control").exists():
        return "this machine has no loop devices (/dev/loop-control)"
    return ""


def places(directory: Path, names: Sequence[str], spec: DiskLab) -> dict[str, Path]:
    """Make and return the directory of each node's data, on a file system of its own if so set.

    Raises `Unsupported` with the reason where this machine cannot, before anything is made.
    """
    own = spec.own_file_systems
    if own and (reason := why_not()):
        raise Unsupported(f"a lab with file systems of its own cannot be made here: {reason}")
    remove(directory)  # of a lab whose directory was deleted by hand
    by_node = {}
    for name in names:
        home = directory / name
        if own:
            _mount(directory / "disks" / f"{name}.img", home / "disk", spec.file_system_mb)
        by_node[name] = (home / "disk" if own else home) / "data"
        by_node[name].mkdir(parents=True, mode=0o700)
    return by_node


def thaw(directory: Path) -> None:
    """End every freeze of the lab in `directory`: what waits for its disk cannot be killed."""
    for point in _mounts(directory):
        subprocess.run(["fsfreeze", "-u", str(point)], capture_output=True, check=False)


def remove(directory: Path) -> None:
    """Unmount the file systems of the lab in `directory` and free their loop devices.

    Its nodes' processes must be gone. Raises `UndoFailed` with what is still there.
    """
    failures: list[str] = []

    def still_there() -> list[str]:
        """Remove what is there; what a maker that was killed had begun may come a moment later."""
        thaw(directory)
        failures[:] = [_failure("umount", str(point)) for point in _mounts(directory)]
        failures.extend(_failure("losetup", "--detach", str(each)) for each in _loops(directory))
        return left(directory)

    # A loop device is free once the last that has it open, as a `blkid` of udev, closes it.
    if still := wait_until(still_there, _FREE_WITHIN_S, _POLL_S, so=operator.not_):
        reasons = "; ".join(filter(None, failures))
        raise UndoFailed(
            f"the file systems of `{directory}` are not gone: {', '.join(still)}: {reasons}"
        )


def left(directory: Path) -> list[str]:
    """Return what there is of the file systems of the lab in `directory`: mounts, loop devices."""
    return [str(path) for path in (*_mounts(directory), *_loops(directory))]


def _mount(image: Path, point: Path, size_mb: int) -> None:
    image.parent.mkdir(exist_ok=True)
    point.mkdir(parents=True)
    with image.open("wb") as file:
        file.truncate(size_mb << 20)
    for words in (
        (*_MAKE, *_LAZILY, str(image)),
        ("mount", "-o", "loop,noatime,nodev,nosuid", str(image), str(point)),
    ):
        if failure := _failure(*words):
            raise HostError(f"a file system for a lab was not made: {failure}")
    (point / "lost+found").rmdir()  # the next fsck makes another; a data directory may be `point`


def _failure(*words: str) -> str:
    """Run a command; return why it failed, empty if it did not."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    return f"`{' '.join(words)}`: {done.stderr.strip() or f'status {done.returncode}'}"


def _mounts(directory: Path) -> list[Path]:
    """Return where file systems are mounted below the lab's directory, the innermost first."""
    lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    points = [Path(directories.mount(line).point) for line in reversed(lines)]
    return [point for point in points if directory.resolve() in point.parents]


def _loops(directory: Path) -> list[Path]:
    """Return the loop devices over files of the lab's directory, also over deleted ones."""
    devices = []
    for backing in sorted(_LOOPS.glob("loop*/loop/backing_file")):
        try:
            file = Path(backing.read_text(encoding="utf-8", errors="replace").rstrip("\n"))
        except OSError:
            continue  # detached meanwhile
        if directory.resolve() / "disks" in file.parents:
            devices.append(Path("/dev") / backing.parent.parent.name)
    return devices
