"""The disk of a run fills up in the middle of a fault: a clear end, and nothing stays broken."""

import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.security.driving import SMALL
from tests.security.secured_lab import SecuredLab
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import adapter_for
from brownout.machine.host import host_for
from brownout.run.directory import LEAST_FREE_AT_WORK, LEAST_FREE_BYTES
from brownout.run.series import Series
from brownout.session.stop_conditions import POLL_S, StopWatch


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with just enough room for a run to begin."""
    place = tmp_path / "small"
    place.mkdir()
    size = f"size={LEAST_FREE_BYTES + 30_000_000}"
    mount = ["mount", "-t", "tmpfs", "-o", size, "brownout-test", str(place)]
    told = subprocess.run(mount, capture_output=True, text=True)
    if told.returncode:
        pytest.skip(f"no file system can be mounted here: {told.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def _fill(place: Path, but: int = 0) -> None:
    """Take all that is free, `but` some bytes, though a run goes on writing meanwhile."""
    taken = 0
    with (place / "fill").open("wb") as file:
        while (free := shutil.disk_usage(place).free - but) > 0:
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), taken, free)
            taken = os.fstat(file.fileno()).st_size


def _await_fault(runs: Path) -> None:
    events = "*/events.ndjson"
    await_true(lambda: any('"effective"' in path.read_text() for path in runs.glob(events)))


def test_a_disk_that_fills_up_ends_the_run_and_everything_is_put_back(
    secured: SecuredLab, small_disk: Path, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    # It never is: the node stays down until the run has ended.
    experiment["method"][1]["provider"]["arguments"]["state"] = "redundant"
    environment = {
        "BROWNOUT_CLUSTER": str(secured.inventory(tmp_path, secured.x509())),
        "BROWNOUT_LOAD": SMALL,
        "BROWNOUT_STATE": str(tmp_path / "state"),
        "BROWNOUT_RUNS": str(small_disk),
    }
    process = chaos.start(experiment, tmp_path, "--rollback-strategy=always", env=environment)
    _await_fault(small_disk)
    _fill(small_disk)
    ran = chaos.finish(process, tmp_path)
    assert ran.code == 1
    assert ran.journal["status"] != "completed"
    assert "No space left on device" in ran.output  # whichever write was the first to fail
    assert "brownout" not in ran.journal  # nothing to judge by
    assert all(host_for(node).running().running for node in secured.cluster.nodes)
    adapter = adapter_for(secured.cluster)
    try:
        await_whole(adapter)  # a member that was just started has some catching up to do
    finally:
        adapter.close()
    assert list((tmp_path / "state" / "open").glob("*.json")) == []


def test_a_run_ends_while_there_is_still_room_for_its_last_words(small_disk: Path) -> None:
    told: list[str] = []
    ended = threading.Event()

    def stop(reason: str) -> None:
        told.append(reason)
        ended.set()

    watch = StopWatch([], small_disk / "abort", _no_load, stop)
    watch.start()
    try:
        assert not ended.wait(3 * POLL_S)
        _fill(small_disk, but=LEAST_FREE_AT_WORK - 1_000_000)
        assert ended.wait(30)
    finally:
        watch.end()
    assert told == ["only 19.0 MB are free where the run directory is, wanted 20 MB"]


def _no_load() -> Series:
    raise AssertionError("no condition asks for it")
