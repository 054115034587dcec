"""A node has only so much memory, by a real control group, or is killed as out of memory."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, Denied, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import control_groups, memory
from brownout.machine.host import Host, host_for

#: Holds 32 MiB itself, 8 in a process of its own, and reads a file of 64 MiB over and over.
HUNGRY = """\
import os, sys, time
def hold(mib):
    return [b"x" * 65000 for _ in range(mib << 4)]
if os.fork() == 0:
    held = hold(8)
    time.sleep(600)
held = hold(32)
path = sys.argv[1] + "/file"
with open(path, "wb") as file:
    for _ in range(64):
        file.write(b"x" * (1 << 20))
    os.fsync(file.fileno())
while True:
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
    time.sleep(0.01)
"""
_MIB = 2**20


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node that runs in a control group of its own."""
    if reason := control_groups.why_not_here():
        pytest.skip(f"NOT TESTED: memory limits: {reason}")
    group = f"brownout-test-{os.getpid()}"
    command = (sys.executable, "-c", HUNGRY, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command, control_group=group)
    node = Node(name="squeezed", address="127.0.0.1:1", host=spec)
    host = host_for(node)
    host.start()
    await_true(lambda: used(node) > 90 * _MIB, "the memory that it wants", 60)
    yield node
    memory.undo_on(node, host)
    for pid in processes(host):
        os.kill(pid, signal.SIGKILL)
    control_groups.remove(group)
    assert not list(Path("/run").glob("brownout-squeezed-1.*"))


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def processes(host: Host) -> list[int]:
    pid = host.running().pid
    return [] if pid is None else [pid, *descendants(pid)]


def used(node: Node) -> int:
    """The bytes that the node's control group uses, as the kernel counts them."""
    assert isinstance(node.host, ProcessSpec)
    group = control_groups.own(node.host.control_group)
    assert group is not None
    names = ("memory.usage_in_bytes", "memory.current")
    (file,) = (group / name for name in names if (group / name).exists())
    return int(file.read_text())


def test_the_node_uses_no_more_than_its_limit_and_all_of_it_again(node: Node, host: Host) -> None:
    proof = memory.squeeze(node, host, 64, 0, 60)
    assert not proof.already
    assert (proof.evidence["state"], proof.evidence["mib"]) == ("squeezed", 64.0)
    assert memory.left_on(node, host).startswith("64.0 MiB by cgroup v")
    assert used(node) <= 64 * _MIB
    assert memory.squeeze(node, host, 64, 0, 60).already
    assert len(processes(host)) == 2  # nothing was killed
    proof = memory.undo_on(node, host)
    assert not proof.already
    assert proof.evidence["limit_reached"] > 0
    assert memory.left_on(node, host) == ""
    await_true(lambda: used(node) > 90 * _MIB, "the memory that it had", 60)
    assert memory.undo_on(node, host).already


def test_a_limit_above_what_the_node_uses_is_never_reached(node: Node, host: Host) -> None:
    memory.squeeze(node, host, 64, 0, 60)
    memory.undo_on(node, host)
    await_true(lambda: used(node) > 90 * _MIB, "the memory that it had", 60)
    memory.squeeze(node, host, 1000, 0, 60)
    assert memory.undo_on(node, host).evidence["limit_reached"] == 0


def test_a_share_is_one_of_what_it_uses_now(node: Node, host: Host) -> None:
    evidence = memory.squeeze(node, host, 0, 0.7, 60).evidence
    assert evidence["mib"] == pytest.approx(0.7 * evidence["used_mib"], abs=0.2)
    assert evidence["anonymous_mib"] > 40


def test_what_cgroup_v1_cannot_take_away_without_swap_is_refused(node: Node, host: Host) -> None:
    use = memory._use(node, host.shell())
    if use.version != 1 or use.swap:
        pytest.skip("NOT TESTED: needs cgroup v1 and no swap")
    with pytest.raises(Refused, match="no swap"):
        memory.squeeze(node, host, 20, 0, 60)
    assert memory.left_on(node, host) == ""


def test_the_node_undoes_it_by_itself_after_its_limit(node: Node, host: Host) -> None:
    switch = memory.squeeze(node, host, 64, 0, 600).evidence["undo_pid"]
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: memory.left_on(node, host) == "", "the undo")
    await_true(lambda: used(node) > 90 * _MIB, "the memory that it had", 60)


def test_a_limit_that_an_operator_raises_is_seen_to_be_over(
    node: Node, host: Host, tmp_path: Path
) -> None:
    proof = memory.squeeze(node, host, 64, 0, 60)
    lasting = watched(host, "squeeze_memory", "release_memory", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    for name in ("memory.limit_in_bytes", "memory.high"):
        file = Path(str(proof.evidence["group"])) / name
        if file.exists():
            file.write_text(str(128 * _MIB))
    assert lasting.breach().clause == "duration"


def test_the_kernel_kills_the_node_and_everything_of_it_and_no_limit_is_left(
    node: Node, host: Host
) -> None:
    pid, *others = processes(host)
    proof = memory.kill(node, host)
    assert (proof.evidence["state"], proof.evidence["pid"]) == ("gone", pid)
    assert proof.evidence["oom_kills"] >= 1
    assert proof.uncertainty_s < 5
    assert not host.running().running
    assert [each for each in others if Path(f"/proc/{each}/cwd").exists()] == []
    assert memory.left_on(node, host) == ""
    host.start()
    await_true(lambda: used(node) > 90 * _MIB, "the memory that it wants", 60)
    with pytest.raises(Denied, match="not running"):
        memory.kill(Node(name="n2", address="127.0.0.1:2", host=_absent(node)), _host(node))


def _absent(node: Node) -> ProcessSpec:
    assert isinstance(node.host, ProcessSpec)
    absent = node.host.model_copy(update={"pid_file": node.host.pid_file.with_name("none")})
    return absent.model_copy(update={"command": ("/bin/false", "of no node")})


def _host(node: Node) -> Host:
    return host_for(node.model_copy(update={"host": _absent(node)}))


def test_a_node_that_shares_its_control_group_is_killed_too_and_not_squeezed(
    node: Node, host: Host, tmp_path: Path
) -> None:
    assert isinstance(node.host, ProcessSpec)
    spec = node.host.model_copy(update={"control_group": "", "pid_file": tmp_path / "other"})
    spec = spec.model_copy(update={"command": (*spec.command, "shared")})
    sharing = Node(name="n3", address="127.0.0.1:3", host=spec)
    theirs = host_for(sharing)
    theirs.start()
    assert "other processes" in memory.why_not(sharing, theirs)
    assert memory.why_no_kill(sharing, theirs) == memory.why_not(node, host) == ""
    assert memory.kill(sharing, theirs).evidence["oom_kills"] >= 1
    assert not theirs.running().running
    assert host.running().running
    assert memory.left_on(sharing, theirs) == ""


@pytest.mark.parametrize(("mib", "share"), [(-1, 0.5), (0.5, 0), (0, 0), (0, 11)])
def test_what_is_not_a_size_is_refused_before_anything_is_touched(
    node: Node, host: Host, mib: float, share: float
) -> None:
    with pytest.raises(ConfigurationError):
        memory.squeeze(node, host, mib, share)
    assert memory.left_on(node, host) == ""
