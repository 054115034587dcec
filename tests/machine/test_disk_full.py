"""A real file system is filled by a file of ours, and is as before when that is gone."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.machine.held import held_before
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import disk_full
from brownout.machine.disk_full import FILE, MIB
from brownout.machine.host import Host, host_for


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system of its own, of 64 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"NOT TESTED: full disks: no tmpfs: {mounted.stderr.decode().strip()}")
    (disk / "data").mkdir()
    yield disk / "data"
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def node(data: Path, tmp_path: Path) -> Iterator[Node]:
    command = (sys.executable, "-c", "import time\nwhile True: time.sleep(9)", str(data))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="filled", address="127.0.0.1:1", host=spec)
    (data / "kept").write_text("data of the node")
    with subprocess.Popen(command, cwd=data) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        try:
            if reason := disk_full.why_not(node, host_for(node)):
                pytest.skip(f"NOT TESTED: full disks: {reason}")
            yield node
            disk_full.undo_on(node, host_for(node))
        finally:
            process.kill()
    assert (data / "kept").read_text() == "data of the node"
    assert not Path("/run/brownout-filled-1.full").exists()


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def test_nothing_can_be_written_but_for_what_is_left_and_all_of_it_again(
    node: Node, host: Host, data: Path
) -> None:
    before = shutil.disk_usage(data).free
    proof = disk_full.fill(node, host, [data], [], 2, 60)
    assert not proof.already
    assert proof.evidence["file"] == str(data.parent / FILE)
    assert 2 * MIB <= proof.evidence["free_bytes"] <= 3 * MIB
    assert disk_full.left_on(node, host) == f"{data.parent / FILE} takes {before // MIB - 2} MiB"
    with pytest.raises(OSError, match="No space left"):
        (data / "more").write_bytes(bytes(4 * MIB))
    (data / "more").unlink()
    assert disk_full.fill(node, host, [data], [], 2, 60).already
    assert not disk_full.undo_on(node, host).already
    assert shutil.disk_usage(data).free == before
    assert disk_full.left_on(node, host) == ""
    assert disk_full.undo_on(node, host).already


def test_the_node_frees_it_by_itself_after_its_limit(node: Node, host: Host, data: Path) -> None:
    switch = disk_full.fill(node, host, [data], [], 0, 600).evidence["undo_pid"]
    assert shutil.disk_usage(data).free < MIB
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: disk_full.left_on(node, host) == "", "the undo")
    assert not (data.parent / FILE).exists()


def test_it_is_freed_also_where_the_node_ended_without_space(
    node: Node, host: Host, data: Path
) -> None:
    disk_full.fill(node, host, [data], [], 0, 60)
    host.stop("kill")
    assert disk_full.left_on(node, host) != ""
    assert not disk_full.undo_on(node, host).already
    assert not (data.parent / FILE).exists()


def test_a_file_that_an_operator_removes_is_seen_to_be_gone(
    node: Node, host: Host, data: Path, tmp_path: Path
) -> None:
    proof = disk_full.fill(node, host, [data], [], 0, 60)
    lasting = watched(host, "fill_disk", "free_disk", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    (data.parent / FILE).unlink()
    assert lasting.breach().clause == "duration"


def test_what_others_use_is_not_filled(node: Node, host: Host, data: Path, tmp_path: Path) -> None:
    before = shutil.disk_usage(data).free
    with subprocess.Popen(["sleep", "60"], cwd=data) as other:
        try:
            with pytest.raises(Refused, match=f"process {other.pid}"):
                disk_full.fill(node, host, [data], [], 0, 60)
        finally:
            other.kill()
    with pytest.raises(Refused, match="it holds what is not this node's"):
        disk_full.fill(node, host, [data], [data.parent], 0, 60)
    shared = tmp_path / "shared"
    shared.mkdir()
    with pytest.raises(Refused, match="it holds what is the system's"):
        disk_full.fill(node, host, [shared], [], 0, 60)
    (data.parent / FILE).write_text("of another program")
    with pytest.raises(HostError, match="is there already"):
        disk_full.fill(node, host, [data], [], 0, 60)
    assert (data.parent / FILE).read_text() == "of another program"
    (data.parent / FILE).unlink()
    with pytest.raises(ConfigurationError, match="leave_mb"):
        disk_full.fill(node, host, [data], [], -1, 60)
    assert disk_full.left_on(node, host) == ""
    assert shutil.disk_usage(data).free == before


def test_a_fill_that_is_undone_before_it_is_done_leaves_nothing(
    node: Node, host: Host, data: Path, tmp_path: Path
) -> None:
    before = shutil.disk_usage(data).free
    filling = lambda: disk_full.fill(node, host, [data], [], 2, 60)  # noqa: E731
    with held_before("fallocate", "-o", filling, tmp_path) as filled:
        disk_full.undo_on(node, host)  # as after a time-out of ours
    with pytest.raises(HostError, match="undone"):
        filled.result()
    assert shutil.disk_usage(data).free == before
    assert disk_full.left_on(node, host) == ""
