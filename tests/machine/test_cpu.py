"""A node gets only so much CPU, by a real control group, and all of it again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import cpu
from brownout.machine.host import Host, host_for

#: Uses all the CPU that it gets, itself and in a process of its own.
_BUSY = "import os\npid = os.fork()\nwhile True: pass"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node that runs, of two processes that never wait."""
    command = (sys.executable, "-c", _BUSY, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="n1", address="127.0.0.1:1", host=spec)
    if reason := cpu.why_not(node, host_for(node)):
        pytest.skip(f"NOT TESTED: CPU limits: {reason}")
    with subprocess.Popen(command, start_new_session=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        await_true(lambda: len(descendants(process.pid)) == 1, "its second process")
        yield node
        cpu.undo_on(node, host_for(node))
        os.killpg(process.pid, signal.SIGKILL)
    assert not Path("/run/brownout-n1.cpu").exists()


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def used_s(host: Host) -> float:
    """The CPU seconds that the node's processes have used so far."""
    pid = host.running().pid
    assert pid is not None
    ticks = 0
    for each in (pid, *descendants(pid)):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def groups(host: Host) -> set[str]:
    """The control groups for CPU that the node's processes are in."""
    pid = host.running().pid
    assert pid is not None
    lines = [
        line
        for each in (pid, *descendants(pid))
        for line in Path(f"/proc/{each}/cgroup").read_text().splitlines()
    ]
    return {line for line in lines if "cpu" in line.split(":")[1].split(",") or line[:3] == "0::"}


def test_the_node_uses_no_more_than_its_limit_and_all_of_it_again(node: Node, host: Host) -> None:
    before = groups(host)
    proof = cpu.limit(node, host, 0.1, 60)
    assert not proof.already
    assert (proof.evidence["state"], proof.evidence["cpus"]) == ("throttled", 0.1)
    assert cpu.left_on(node, host).startswith("0.1 CPUs by cgroup v")
    began, used = time.monotonic(), used_s(host)
    await_true(lambda: time.monotonic() > began + 1.0, "a second")
    share = (used_s(host) - used) / (time.monotonic() - began)
    assert share < 0.25  # of two CPUs' worth of work; one period may already be spent
    assert not cpu.undo_on(node, host).already
    assert cpu.left_on(node, host) == ""
    assert groups(host) == before
    used = used_s(host)
    await_true(lambda: used_s(host) > used + 0.5, "the CPU that it had", 60)
    assert cpu.undo_on(node, host).already


def test_a_second_limit_replaces_the_first_and_one_undo_is_enough(node: Node, host: Host) -> None:
    before = groups(host)
    cpu.limit(node, host, 0.5, 60)
    assert not cpu.limit(node, host, 0.2, 60).already
    assert cpu.limit(node, host, 0.2, 60).already
    assert cpu.left_on(node, host).startswith("0.2 CPUs")
    cpu.undo_on(node, host)
    assert groups(host) == before


def test_the_node_undoes_it_by_itself_after_its_limit(node: Node, host: Host) -> None:
    before = groups(host)
    switch = cpu.limit(node, host, 0.2, 600).evidence["undo_pid"]
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: cpu.left_on(node, host) == "", "the undo")
    assert groups(host) == before


@pytest.mark.parametrize("cpus", [0.0, -1.0, 5000.0])
def test_what_no_kernel_can_give_is_refused_before_anything_is_touched(
    node: Node, host: Host, cpus: float
) -> None:
    with pytest.raises(ConfigurationError, match="cpus"):
        cpu.limit(node, host, cpus)
    assert cpu.left_on(node, host) == ""
