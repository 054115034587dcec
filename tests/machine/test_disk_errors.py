"""The flushes of a real process fail as a tracer says, and no others."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import disk_errors, disk_slow
from brownout.machine.host import Host, host_for

#: Flushes a file again and again, and writes down a letter for each flush: how it ended.
_FLUSHES = """
import errno, os, sys, time
letters = {errno.EIO: "E", errno.ENOSYS: "N"}
file = os.open(f"{sys.argv[1]}/data", os.O_CREAT | os.O_RDWR)
with open(f"{sys.argv[1]}/flushes", "a", buffering=1) as out:
    while True:
        try:
            os.fdatasync(file)
            out.write(".")
        except OSError as error:
            out.write(letters.get(error.errno, "?"))
        out.flush()
        time.sleep(0.005)
"""

#: Flushes a file until that fails, as a server that trusts its disk no more.
_ENDS = """
import os, sys
file = os.open(f"{sys.argv[1]}/data", os.O_CREAT | os.O_RDWR)
open(f"{sys.argv[1]}/flushes", "w").write("....")
while True:
    try:
        os.fdatasync(file)
    except OSError:
        os._exit(1)
"""
#: Ends as soon as it is traced, before everything else that runs here, and has flushed nothing.
_SHY = """
import contextlib, os, sys
with contextlib.suppress(PermissionError):
    os.nice(-20)
open(f"{sys.argv[1]}/flushes", "w").write("....")
while "TracerPid:\\t0" in open("/proc/self/status").read():
    pass
os._exit(1)
"""


@contextmanager
def running(program: str, tmp_path: Path) -> Iterator[Node]:
    command = (sys.executable, "-c", program, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="failing", address="127.0.0.1:1", host=spec)
    with subprocess.Popen(command, start_new_session=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        await_true(lambda: len(flushes(tmp_path)) > 3, "its first flushes")
        reason = disk_errors.TRACER.why_not(node, host_for(node))
        try:
            if reason:
                pytest.skip(f"NOT TESTED: failing disks: {reason}")
            yield node
            disk_errors.undo_on(node, host_for(node))
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with running(_FLUSHES, tmp_path) as node:
        yield node


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def flushes(tmp_path: Path) -> str:
    file = tmp_path / "flushes"
    return file.read_text() if file.exists() else ""


def left_files() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("brownout-failing-*disk_errors.*"))


def test_every_second_flush_fails_from_the_third_on_and_then_none(
    node: Node, host: Host, tmp_path: Path
) -> None:
    proof = disk_errors.fail(node, host, 50, 3, "flush", 60)
    assert proof.evidence["by"] == "strace"
    assert disk_errors.left_on(node, host) == "EIO by strace, 3+2"
    await_true(lambda: flushes(tmp_path).count("E") >= 5, "failures")
    assert ".E.E.E." in flushes(tmp_path)
    assert "EE" not in flushes(tmp_path)
    undone = disk_errors.undo_on(node, host)
    assert undone.evidence["calls_hit"]["fdatasync"] >= 10
    failed = flushes(tmp_path).count("E")
    before = len(flushes(tmp_path))
    await_true(lambda: len(flushes(tmp_path)) > before + 10, "more flushes")
    assert flushes(tmp_path).count("E") <= failed + 1  # one may have been on its way
    counts = Counter(flushes(tmp_path))
    assert counts.pop("N", 0) <= 1  # the one under way when the tracer ended
    assert set(counts) == {".", "E"}
    assert disk_errors.undo_on(node, host).already


def test_a_node_that_its_first_failed_flush_ends_has_had_the_fault(tmp_path: Path) -> None:
    before = set(left_files())
    with running(_ENDS, tmp_path) as node:
        proof = disk_errors.fail(node, host_for(node), 100, 1, "flush", 60)
        assert proof.evidence["node_ended"]
        assert proof.evidence["calls_hit"]["fdatasync"] >= 1
        assert disk_errors.left_on(node, host_for(node)) == ""
        assert disk_errors.undo_on(node, host_for(node)).already
    await_true(lambda: set(left_files()) <= before, "the end of the switch")


def test_a_node_that_ended_before_a_flush_failed_has_not_had_it(tmp_path: Path) -> None:
    with (
        running(_SHY, tmp_path) as node,
        pytest.raises(HostError, match="`failing` ended before"),
    ):
        disk_errors.fail(node, host_for(node), 100, 1, "flush", 60)


def test_a_process_has_one_tracer_so_it_is_not_slowed_as_well(node: Node, host: Host) -> None:
    disk_errors.fail(node, host, 100, 60_000, "flush", 60)
    (reason,) = disk_slow.TRACER.why_not_now(node, host)
    assert "(strace) traces it already" in reason
    assert disk_slow.left_on(node, host) == ""
    assert disk_slow.undo_on(node, host).already
    assert disk_errors.left_on(node, host) != ""


@pytest.mark.parametrize(
    ("percent", "first", "calls"),
    [(0, 1, "flush"), (101, 1, "flush"), (50, 0, "flush"), (50, 1, "x")],
)
def test_what_cannot_fail_is_refused_before_anything_is_touched(
    node: Node, host: Host, percent: float, first: int, calls: str
) -> None:
    with pytest.raises(ConfigurationError, match="wanted"):
        disk_errors.fail(node, host, percent, first, calls)
    assert disk_errors.left_on(node, host) == ""
