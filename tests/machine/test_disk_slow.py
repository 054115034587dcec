"""The calls of a real process are held by a real tracer, and only as long as that lives."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import disk_slow
from brownout.machine.host import Host, host_for

#: Flushes a file again and again in a thread, in a process of its own, and, where the file `fork`
#: is there, in one that it makes then. Each writes how long the last flush took, in ms.
_FLUSHES = """
import os, sys, threading, time
def flush(name):
    file = os.open(f"{sys.argv[1]}/{name}", os.O_CREAT | os.O_RDWR)
    while True:
        os.pwrite(file, b"x", 0)
        began = time.monotonic()
        os.fdatasync(file)
        with open(f"{sys.argv[1]}/{name}.new", "w") as out:
            out.write(f"{(time.monotonic() - began) * 1000}")
        os.rename(f"{sys.argv[1]}/{name}.new", f"{sys.argv[1]}/{name}.ms")
        time.sleep(0.01)
if os.fork() == 0:
    flush("child")
threading.Thread(target=flush, args=("thread",), daemon=True).start()
while not os.path.exists(f"{sys.argv[1]}/fork"):
    time.sleep(0.01)
if os.fork() == 0:
    flush("later")
while True:
    time.sleep(1)
"""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node of two processes and a thread."""
    command = (sys.executable, "-c", _FLUSHES, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="slowed", address="127.0.0.1:1", host=spec)
    with subprocess.Popen(command, start_new_session=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        await_true(lambda: len(list(tmp_path.glob("*.ms"))) == 2, "its first flushes")
        if reason := disk_slow.TRACER.why_not(node, host_for(node)):
            os.killpg(process.pid, signal.SIGKILL)
            pytest.skip(f"NOT TESTED: slow disks: {reason}")
        yield node
        disk_slow.undo_on(node, host_for(node))
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def is_slow(tmp_path: Path, name: str, expected: bool) -> bool:
    """Whether the last flush took as long as expected: at least 200 ms or not."""
    return (float((tmp_path / f"{name}.ms").read_text()) >= 200) == expected


def await_fast(tmp_path: Path, *names: str) -> None:
    for name in names:
        await_true(partial(is_slow, tmp_path, name, False), f"{name} to be fast")


def await_slow(tmp_path: Path, *names: str) -> None:
    for name in names:
        await_true(partial(is_slow, tmp_path, name, True), f"{name} to be slow")


def test_every_flush_of_every_process_of_it_takes_so_much_longer_and_then_no_more(
    node: Node, host: Host, tmp_path: Path
) -> None:
    proof = disk_slow.slow(node, host, 200, "flush", 60)
    assert not proof.already
    assert proof.evidence["by"] == "strace"
    assert proof.evidence["threads"] == 3
    assert disk_slow.left_on(node, host) == "200 ms by strace"
    await_slow(tmp_path, "thread", "child")
    (tmp_path / "fork").touch()
    await_true(lambda: (tmp_path / "later.ms").exists(), "a process that it makes meanwhile")
    await_slow(tmp_path, "later")
    undone = disk_slow.undo_on(node, host)
    assert undone.evidence["calls_hit"]["fdatasync"] >= 3
    await_fast(tmp_path, "thread", "child", "later")
    assert disk_slow.left_on(node, host) == ""
    assert disk_slow.undo_on(node, host).already
    assert list(Path(os.environ.get("TMPDIR", "/tmp")).glob("brownout-slowed-1-disk_slow.*")) == []


def test_a_tracer_that_delays_nothing_is_a_control(node: Node, host: Host, tmp_path: Path) -> None:
    disk_slow.slow(node, host, 0, "write", 60)
    assert disk_slow.left_on(node, host) == "0 ms by strace"
    await_fast(tmp_path, "thread", "child")
    hit = disk_slow.undo_on(node, host).evidence["calls_hit"]
    assert hit["fdatasync"]
    assert hit["pwrite64"]


@pytest.mark.parametrize("ended", ["tracer", "its timer", "switch"])
def test_it_ends_by_itself_and_the_node_is_unharmed(
    node: Node, host: Host, tmp_path: Path, ended: str
) -> None:
    proof = disk_slow.slow(node, host, 200, "flush", 3 if ended == "switch" else 600)
    await_slow(tmp_path, "thread")
    switch, tracer = proof.evidence["undo_pid"], proof.evidence["tracer"]
    (timer,) = {*descendants(switch)} - {tracer}
    os.kill({"tracer": tracer, "its timer": timer, "switch": switch}[ended], signal.SIGKILL)
    await_true(lambda: disk_slow.left_on(node, host) == "", "its end", 20)
    await_fast(tmp_path, "thread", "child")
    state = host.running()
    assert state.running
    assert not state.paused
    disk_slow.undo_on(node, host)


def test_a_second_delay_replaces_the_first(node: Node, host: Host, tmp_path: Path) -> None:
    disk_slow.slow(node, host, 500, "flush", 60)
    assert not disk_slow.slow(node, host, 200, "flush", 60).already
    assert disk_slow.slow(node, host, 200, "flush", 60).already
    await_slow(tmp_path, "thread")
    disk_slow.undo_on(node, host)
    await_fast(tmp_path, "thread")


def test_nodes_of_one_name_on_one_machine_are_not_mixed_up(node: Node, host: Host) -> None:
    namesake = node.model_copy(update={"address": "127.0.0.1:2"})
    disk_slow.slow(node, host, 200, "flush", 60)
    assert disk_slow.left_on(namesake, host) == ""
    assert disk_slow.undo_on(namesake, host).already
    assert disk_slow.left_on(node, host) != ""


def test_a_tracer_of_somebody_else_is_named_and_left_alone(node: Node, host: Host) -> None:
    pid = host.running().pid
    other = subprocess.Popen(
        ["strace", "-qq", "-f", "-o", "/dev/null", "-p", str(pid)], stderr=subprocess.DEVNULL
    )
    try:
        await_true(lambda: disk_slow.TRACER.why_not_now(node, host), "that it is traced")
        (reason,) = disk_slow.TRACER.why_not_now(node, host)
        assert f"process {other.pid} (strace) traces it already" in reason
        with pytest.raises(HostError, match="tracing node `slowed` failed"):
            disk_slow.slow(node, host, 200, "flush", 60)
        assert disk_slow.left_on(node, host) == ""
        assert other.poll() is None
    finally:
        other.terminate()
        other.wait()
    assert disk_slow.TRACER.why_not_now(node, host) == []


def test_a_tracer_that_an_operator_ends_is_seen_to_be_over(
    node: Node, host: Host, tmp_path: Path
) -> None:
    proof = disk_slow.slow(node, host, 200, "flush", 60)
    lasting = watched(host, "slow_disk", "unslow_disk", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    os.kill(proof.evidence["tracer"], signal.SIGTERM)
    assert lasting.breach().clause == "duration"


@pytest.mark.parametrize(("latency_ms", "calls"), [(-1, "flush"), (1e9, "flush"), (50, "read")])
def test_what_cannot_be_delayed_is_refused_before_anything_is_touched(
    node: Node, host: Host, latency_ms: float, calls: str
) -> None:
    with pytest.raises(ConfigurationError, match="wanted"):
        disk_slow.slow(node, host, latency_ms, calls)
    assert disk_slow.left_on(node, host) == ""
