"""Which block devices may be emptied: judgements over facts, and real wrong targets."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from tests.loopdevice import Loop, loop_device
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.machine import devices
from brownout.machine.commands import LocalRunner
from brownout.machine.devices.facts import Facts, Listed, gather
from brownout.machine.devices.guards import refusals

BY_ID = PurePosixPath("/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1")
GOOD = Facts(
    path=PurePosixPath("/dev/nvme1n1"),
    kind="block special file",
    real="/dev/nvme1n1",
    number="259:1",
    size_bytes=1 << 40,
    disks=("nvme1n1",),
    stable=(str(BY_ID),),
    listed=(Listed(BY_ID, "259:1"), Listed(PurePosixPath("/dev/disk/by-id/other"), "259:7")),
    system=(("nvme0n1", "/"), ("nvme0n1", "/boot")),
)


def test_a_raw_device_that_the_inventory_lists_may_be_emptied() -> None:
    assert list(refusals(GOOD)) == []


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (Facts(GOOD.path, kind="missing"), "it does not exist"),
        (Facts(GOOD.path, kind="directory"), "not a block device but a directory"),
        (replace(GOOD, listed=()), f"does not list it under `devices` (it is {BY_ID})"),
        (replace(GOOD, listed=(Listed(BY_ID, "none"),)), "does not list it under `devices`"),
        (replace(GOOD, listed=(Listed(GOOD.path, "259:1"),)),
         "lists it as `/dev/nvme1n1`, which may be another disk after the next boot"),
        (replace(GOOD, read_only=True), "it is read-only"),
        (replace(GOOD, size_bytes=0), "it has no size"),
        (replace(GOOD, partitions=("nvme1n1p1",)), "it has partitions (nvme1n1p1)"),
        (replace(GOOD, contents=("LVM2_member",)), "data: LVM2_member"),
        (replace(GOOD, contents=("linux_raid_member",)), "data: linux_raid_member"),
        (replace(GOOD, unknown=("what is on it: the machine has no blkid",)), "has no blkid"),
        (replace(GOOD, mounts=("/data", "/jail/data")), "mounted at `/data`, `/jail/data`"),
        (replace(GOOD, swaps=("/dev/nvme1n1",)), "in use as swap"),
        (replace(GOOD, holders=("dm-0", "md0")), "it is part of dm-0, md0"),
        (replace(GOOD, users=(4711,)), "it is open in process 4711"),
        (replace(GOOD, system=(("nvme1n1", "/boot"),)), "disk `nvme1n1`, which holds `/boot`"),
        (replace(GOOD, disks=("sda", "nvme0n1")), "disk `nvme0n1`, which holds `/`"),
        (replace(GOOD, unplaced=("/",)), "which disk holds `/` cannot be told"),
    ],
)  # fmt: skip
def test_what_speaks_against_a_device_is_said(facts: Facts, reason: str) -> None:
    assert reason in "; ".join(refusals(facts))


def test_every_reason_is_told_at_once() -> None:
    bad = replace(GOOD, listed=(), mounts=("/data",), holders=("dm-0",), users=(1,))

    assert len(list(refusals(bad))) == 4


@pytest.mark.parametrize("path", ["/dev", "/var/lib/mongodb", "nvme1n1", "/dev/../etc", "/dev/a\n"])
def test_what_is_no_path_below_dev_is_refused_before_anything_is_asked(path: str) -> None:
    with pytest.raises(Refused, match=r"wanted the path of a device below /dev|control characters"):
        devices.check(LocalRunner(), PurePosixPath(path), [])


def test_what_is_no_block_device_is_refused() -> None:
    with pytest.raises(Refused, match=naming("/dev/null", "character special file")):
        devices.check(LocalRunner(), PurePosixPath("/dev/null"), [])


def test_a_device_that_does_not_exist_is_refused() -> None:
    path = PurePosixPath("/dev/disk/by-id/no-such-device")

    with pytest.raises(Refused, match="does not exist"):
        devices.check(LocalRunner(), path, [path])


def test_the_disk_that_this_machine_lives_on_is_known_and_refused() -> None:
    disk = _system_disk()

    with pytest.raises(Refused, match=r"it is mounted at|it has partitions") as refused:
        devices.check(LocalRunner(), disk, [disk])

    assert "which holds `/`" in str(refused.value)


def _system_disk() -> PurePosixPath:
    number = Path("/").stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not link.exists():
        pytest.skip("the root of this machine is on no block device (a container)")
    place = link.resolve()
    name = place.parent.name if (place / "partition").exists() else place.name
    if not Path("/dev", name).is_block_device():
        pytest.skip(f"/dev/{name} is not there (a container)")
    return PurePosixPath("/dev", name)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    with loop_device(tmp_path) as device:
        yield device.filled()


def _check(loop: Loop, path: Path | None = None) -> Facts:
    return devices.check(
        LocalRunner(), PurePosixPath(path or loop.stable), [PurePosixPath(loop.stable)]
    )


def test_a_listed_loop_device_may_be_emptied_by_either_of_its_names(loop: Loop) -> None:
    assert _check(loop).real == _check(loop, loop.device).real == str(loop.device)


def test_a_device_that_is_not_in_the_inventory_is_refused_and_its_stable_name_given(
    loop: Loop,
) -> None:
    with pytest.raises(Refused, match=naming(loop.device, "`devices`", loop.stable)):
        devices.check(LocalRunner(), PurePosixPath(loop.device), [])


def test_a_device_listed_by_a_name_that_moves_is_refused(loop: Loop) -> None:
    moving = PurePosixPath(loop.device)

    with pytest.raises(Refused, match=naming(f"`{moving}`", "/dev/disk/by-id")):
        devices.check(LocalRunner(), moving, [moving])


def test_a_link_from_elsewhere_is_refused(loop: Loop, tmp_path: Path) -> None:
    link = tmp_path / "disk"
    link.symlink_to(loop.device)

    with pytest.raises(Refused, match=naming(link, "/dev")):
        _check(loop, link)


def test_a_device_that_a_process_has_open_is_refused(loop: Loop) -> None:
    with loop.device.open("rb"), pytest.raises(Refused, match=f"open in process {os.getpid()}"):
        _check(loop)


def test_a_device_with_a_file_system_is_refused_and_so_is_a_mounted_one(
    loop: Loop, tmp_path: Path
) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-F", str(loop.device)], check=True)
    with pytest.raises(Refused, match="other than a database's data: ext4"):
        _check(loop)

    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mount", str(loop.device), str(point)], check=True)
    try:
        with pytest.raises(Refused, match=f"it is mounted at `{point}`"):
            _check(loop)
    finally:
        subprocess.run(["umount", str(point)], check=True)


def test_a_device_in_use_as_swap_is_refused(loop: Loop) -> None:
    subprocess.run(["mkswap", "-q", str(loop.device)], check=True)
    if subprocess.run(["swapon", str(loop.device)], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this machine takes no swap on a loop device")
    try:
        with pytest.raises(Refused, match=naming(loop.stable, "swap")):
            _check(loop)
        assert gather(LocalRunner(), PurePosixPath(loop.stable), []).swaps
    finally:
        subprocess.run(["swapoff", str(loop.device)], check=True)


def test_a_read_only_device_is_refused(tmp_path: Path) -> None:
    with (
        loop_device(tmp_path, b"", "--read-only") as loop,
        pytest.raises(Refused, match="it is read-only"),
    ):
        _check(loop)


def test_the_parent_of_a_partition_is_refused_and_the_partition_is_not_its_parent(
    tmp_path: Path,
) -> None:
    with loop_device(tmp_path, b"", "--partscan") as loop:
        part = loop.device.with_name(f"{loop.device.name}p1")
        subprocess.run(["addpart", str(loop.device), "1", "2048", "4096"], check=False)
        if not part.exists():
            pytest.skip("this machine makes no partitions on a loop device")

        with pytest.raises(Refused, match=rf"it has partitions \({part.name}\)"):
            _check(loop)
        with pytest.raises(Refused, match=naming(part, "`devices`")):
            _check(loop, part)
        facts = gather(LocalRunner(), PurePosixPath(part), [])
        assert (facts.disks, facts.size_bytes) == ((loop.device.name,), 4096 * 512)
