"""Emptying block devices for real, by each method, and reading back what they hold then."""

import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from tests.loopdevice import SIZE, Loop, loop_device
from tests.wording import naming

from brownout.base.errors import HostError
from brownout.machine import devices
from brownout.machine.commands import Completed, LocalRunner
from brownout.machine.devices import wipe
from brownout.machine.devices.facts import Facts

MIB = 1 << 20


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    with loop_device(tmp_path) as device:
        yield device.filled()


def checked(loop: Loop) -> Facts:
    stable = PurePosixPath(loop.stable)
    return devices.check(LocalRunner(), stable, [stable])


class Refusing:
    """Runs scripts here, but as on a machine whose device refuses some methods, or ignores them."""

    where = "a machine with odd disks"

    def __init__(self, **methods: str) -> None:
        self.directory = Path(methods.pop("directory"))
        for name, body in methods.items():
            program = self.directory / name
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        return LocalRunner().run(f"PATH={self.directory}:$PATH\n{text}", timeout_s)


def test_a_discarded_device_reads_as_zero(loop: Loop) -> None:
    facts, asked = checked(loop), time.monotonic()

    emptied = devices.empty(LocalRunner(), facts, 60.0)

    assert loop.reads_zero()
    assert (emptied.method, emptied.tried, emptied.whole) == ("blkdiscard", (), True)
    assert asked <= emptied.effective - emptied.uncertainty_s
    assert emptied.effective <= time.monotonic()
    assert emptied.evidence()["number"] == facts.number


def test_a_discard_that_does_nothing_is_found_out_and_zeroes_are_written(
    loop: Loop, tmp_path: Path
) -> None:
    body = '[ "$1" = -z ] || exit 0; exec /usr/sbin/blkdiscard "$@"'
    runner = Refusing(directory=str(tmp_path), blkdiscard=body)

    emptied = devices.empty(runner, checked(loop), 60.0)

    assert loop.reads_zero()
    assert emptied.method == "blkdiscard -z"
    assert emptied.tried == ("blkdiscard: not zero from byte 0 on",)


def test_a_device_that_discards_nothing_at_all_is_overwritten(loop: Loop, tmp_path: Path) -> None:
    body = 'echo "blkdiscard: $2: BLKDISCARD ioctl failed: Operation not supported" >&2; exit 1'
    runner = Refusing(directory=str(tmp_path), blkdiscard=body)

    emptied = devices.empty(runner, checked(loop), 60.0)

    assert loop.reads_zero()
    assert emptied.method == "dd"
    assert len(emptied.tried) == 2
    assert "Operation not supported" in emptied.tried[0]


def test_a_device_that_keeps_its_data_whatever_is_done_is_an_error(
    loop: Loop, tmp_path: Path
) -> None:
    runner = Refusing(directory=str(tmp_path), blkdiscard="exit 0", dd="exit 0")

    with pytest.raises(HostError, match=naming(loop.stable, "blkdiscard", "dd")):
        devices.empty(runner, checked(loop), 60.0)

    assert loop.untouched()


def test_a_device_that_somebody_took_after_its_check_is_left_alone(loop: Loop) -> None:
    facts = checked(loop)
    held = os.open(loop.device, os.O_RDWR | os.O_EXCL)
    try:
        with pytest.raises(HostError, match="busy"):
            devices.empty(LocalRunner(), facts, 60.0)
    finally:
        os.close(held)

    assert loop.untouched()


def test_another_device_under_the_name_after_the_check_is_left_alone(loop: Loop) -> None:
    facts = checked(loop)
    other = Facts(facts.path, real=facts.real, number="7:250", size_bytes=facts.size_bytes)

    with pytest.raises(HostError, match="it is another device now"):
        devices.empty(LocalRunner(), other, 60.0)

    assert loop.untouched()


def test_a_small_device_is_read_back_whole() -> None:
    assert wipe.regions(SIZE) == [(0, SIZE)]


def test_a_large_device_is_read_back_at_its_ends_and_in_between() -> None:
    size = 3_840_755_982_336

    found = wipe.regions(size)

    assert found[0] == (0, 64 * MIB)
    assert sum(found[-1]) == size
    assert len(found) == 66
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(found))
