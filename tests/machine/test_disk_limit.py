"""A node uses a real disk no faster than its limit, and as fast as before when that is gone."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import loopdevice, uml
from tests.faults.lasting import watched
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, Refused
from brownout.faults import registry
from brownout.faults.act import evidence_of
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import disk_limit
from brownout.machine.host import Host, host_for

#: Writes 256 KiB and waits for the disk, again and again, and counts how often it has.
_WRITES = """
import os, sys
file = os.open(sys.argv[1] + "/file", os.O_RDWR | os.O_CREAT)
count = os.open(sys.argv[1] + "/count", os.O_RDWR | os.O_CREAT)
done = 0
while True:
    os.pwrite(file, os.urandom(1 << 18), 0)
    os.fsync(file)
    done += 1
    os.pwrite(count, b"%9d" % done, 0)
"""
_MIB = 1 << 20


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system of its own, on a disk of its own."""
    with loopdevice.file_system(tmp_path) as point:
        (point / "data").mkdir()
        yield point / "data"


@pytest.fixture
def node(data: Path, tmp_path: Path) -> Iterator[Node]:
    """A node that writes as fast as its disk lets it."""
    command = (sys.executable, "-c", _WRITES, str(data))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="limited", address="127.0.0.1:1", host=spec)
    if reason := disk_limit.why_not(node, host_for(node)):
        pytest.skip(f"NOT TESTED: limited disks: {reason}")
    with subprocess.Popen(command) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        try:
            if reasons := disk_limit.why_not_now(node, host_for(node), [data]):
                pytest.skip(f"NOT TESTED: limited disks: {reasons}")
            count = data / "count"
            await_true(lambda: count.is_file() and count.read_text() != "", "its first write")
            yield node
            disk_limit.undo_on(node, host_for(node))
        finally:
            process.kill()
    assert not Path("/run/brownout-limited-1.io").exists()
    assert limits() == {}


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def limits() -> dict[str, str]:
    """Every limit of a disk that any control group of this machine has."""
    roots = ("/sys/fs/cgroup/blkio", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
    found = {}
    for root in map(Path, roots):
        for name in ("blkio.throttle.write_bps_device", "io.max"):
            for file in (*root.glob(name), *root.glob(f"*/{name}")):
                if words := file.read_text().strip():
                    found[str(file)] = words
    return found


def groups(host: Host) -> str:
    """The control groups that the node's process is in."""
    return Path(f"/proc/{host.running().pid}/cgroup").read_text()


def written_a_second(data: Path) -> float:
    """How many bytes the node makes safe in a second, in two seconds of looking."""
    first, began = int((data / "count").read_text()), time.monotonic()
    await_true(lambda: time.monotonic() > began + 2.0, "two seconds")
    return (int((data / "count").read_text()) - first) * (1 << 18) / (time.monotonic() - began)


def test_the_node_writes_no_faster_than_its_limit_and_as_fast_as_before(
    node: Node, host: Host, data: Path
) -> None:
    before, free = groups(host), written_a_second(data)
    proof = disk_limit.limit(node, host, [data], 1.0, 0, 60)
    assert not proof.already
    (disk,) = proof.evidence["disks"]
    assert (proof.evidence["state"], proof.evidence["mib_per_s"]) == ("limited", 1.0)
    left = f"1 MiB/s of disk {disk}; {proof.evidence['by'].replace('cgroup', 'by cgroup')}"
    assert disk_limit.left_on(node, host) == left
    limited = written_a_second(data)
    assert limited < 1.6 * _MIB < free  # what was on its way already is not held
    assert disk_limit.limit(node, host, [data], 1.0, 0, 60).already
    undone = disk_limit.undo_on(node, host)
    assert not undone.already
    assert _MIB < undone.evidence["written_bytes"] < 20 * _MIB  # in two seconds and a bit
    assert disk_limit.left_on(node, host) == ""
    assert groups(host) == before
    await_true(lambda: written_a_second(data) > 2 * _MIB, "the disk that it had", 60)
    assert disk_limit.undo_on(node, host).already


def test_nobody_else_on_the_same_disk_is_limited(node: Node, host: Host, data: Path) -> None:
    disk_limit.limit(node, host, [data], 0.05, 0, 60)
    began = time.monotonic()
    with (data / "others").open("wb") as file:
        file.write(os.urandom(2 * _MIB))  # of the node: 40 s
        os.fsync(file.fileno())
    assert time.monotonic() - began < 20


def test_calls_are_limited_apart_from_their_size_and_one_undo_is_enough(
    node: Node, host: Host, data: Path
) -> None:
    before = groups(host)
    disk_limit.limit(node, host, [data], 0.5, 0, 60)
    proof = disk_limit.limit(node, host, [data], 0.0, 4, 60)
    assert not proof.already
    assert "4 calls/s" in disk_limit.left_on(node, host)
    assert "MiB/s" not in disk_limit.left_on(node, host)
    assert written_a_second(data) < 8 * (1 << 18)
    disk_limit.undo_on(node, host)
    assert groups(host) == before


def test_the_node_undoes_it_by_itself_after_its_limit(node: Node, host: Host, data: Path) -> None:
    before = groups(host)
    switch = disk_limit.limit(node, host, [data], 0.5, 0, 600).evidence["undo_pid"]
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: disk_limit.left_on(node, host) == "", "the undo", 30)
    assert groups(host) == before


def test_a_limit_that_an_operator_raises_is_seen_to_be_over(
    node: Node, host: Host, data: Path, tmp_path: Path
) -> None:
    proof = disk_limit.limit(node, host, [data], 0.5, 0, 60)
    lasting = watched(host, "limit_disk", "unlimit_disk", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    (disk,) = proof.evidence["disks"]
    for name, value in (("blkio.throttle.write_bps_device", "9999999"), ("io.max", "wbps=9999999")):
        file = Path(str(proof.evidence["group"])) / name
        if file.exists():
            file.write_text(f"{disk} {value}")
    assert lasting.breach().clause == "duration"


@pytest.mark.parametrize("mib_per_s", [0.05, 0.013, 1 / 3, 5.1])
def test_a_limit_that_is_not_whole_bytes_is_seen_to_last(
    mib_per_s: float, node: Node, host: Host, data: Path
) -> None:
    proof = disk_limit.limit(node, host, [data], mib_per_s, 0, 60)
    undo = registry.undo_named("unlimit_disk")
    assert undo is not None
    seen = evidence_of(proof)
    assert undo.is_in_place(node, host, seen)
    disk_limit.undo_on(node, host)
    assert not undo.is_in_place(node, host, seen)


def test_data_that_lies_on_no_disk_is_refused_and_nothing_is_touched(
    node: Node, host: Host, tmp_path: Path
) -> None:
    before, memory = groups(host), tmp_path / "memory"
    memory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(memory)], check=True)
    try:
        (reason,) = disk_limit.why_not_now(node, host, [memory])
        assert f"{memory} on " in reason
        assert "tmpfs" in reason
        with pytest.raises(Refused, match="tmpfs"):
            disk_limit.limit(node, host, [memory], 1.0, 0, 60)
    finally:
        subprocess.run(["umount", str(memory)], check=True)
    assert (groups(host), disk_limit.left_on(node, host)) == (before, "")


@pytest.mark.parametrize(("mib_per_s", "iops"), [(0.0, 0), (-1.0, 0), (0.001, 5), (1.0, -1)])
def test_what_no_kernel_can_limit_is_refused_before_anything_is_touched(
    node: Node, host: Host, data: Path, mib_per_s: float, iops: int
) -> None:
    with pytest.raises(ConfigurationError):
        disk_limit.limit(node, host, [data], mib_per_s, iops)
    assert disk_limit.left_on(node, host) == ""


#: Limits a node that is alone in its control group, and prints what came of it.
_IN_VERSION_2 = f"""
import json, os, subprocess, sys, time
from pathlib import Path
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import disk_limit
from brownout.machine.host import host_for

data, group, pid_file = Path("/run/data"), Path("/sys/fs/cgroup/node"), Path("/run/pid")
Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+memory")
group.mkdir()
enter = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
command = (sys.executable, "-c", {_WRITES!r}, str(data))
process = subprocess.Popen(command, preexec_fn=enter)
pid_file.write_text(str(process.pid))
spec = ProcessSpec(pid_file=pid_file, command=command)
node = Node(name="limited", address="127.0.0.1:1", host=spec)
host = host_for(node)

def written_a_second():
    time.sleep(1)
    first, began = int((data / "count").read_text()), time.monotonic()
    time.sleep(4)
    return (int((data / "count").read_text()) - first) * (1 << 18) / (time.monotonic() - began)

seen = {{"why_not": disk_limit.why_not(node, host)}}
seen["now"] = disk_limit.why_not_now(node, host, [data])
seen["free"] = written_a_second()
seen["by"] = disk_limit.limit(node, host, [data], 0.5, 0, 60).evidence["by"]
seen["limited"], seen["left"] = written_a_second(), disk_limit.left_on(node, host)
seen["undone"] = disk_limit.undo_on(node, host).evidence
seen["io.max"] = (group / "io.max").read_text()
other = subprocess.Popen(["sleep", "99"], preexec_fn=enter)
seen["shared"] = disk_limit.why_not_now(node, host, [data])
other.kill(), process.kill()
print("\\n" + json.dumps(seen))
"""


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_the_same_holds_on_a_kernel_whose_control_groups_are_of_version_2(tmp_path: Path) -> None:
    seen = uml.run_alone("control groups of version 2", tmp_path, _IN_VERSION_2)
    assert (seen["why_not"], seen["now"], seen["by"]) == ("", [], "cgroup v2")
    assert seen["left"].startswith("0.5 MiB/s of disk")
    assert 0.3 * _MIB < seen["limited"] < 0.8 * _MIB < seen["free"]
    assert seen["undone"]["written_bytes"] > _MIB
    assert seen["io.max"] == ""
    (shared,) = seen["shared"]
    assert "`/node`" in shared
