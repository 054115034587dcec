"""A node gets only so much CPU, by a real control group, and all of it again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from tests.faults.lasting import watched
from tests.machine.held import held_before
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import cpu
from brownout.machine.commands import LocalRunner
from brownout.machine.host import Host, Shell, host_for
from brownout.machine.processes import by_id

#: Uses all the CPU that it gets, itself and in a process of its own.
BUSY = "import os\npid = os.fork()\nwhile True: pass"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node that runs, of two processes that never wait."""
    command = (sys.executable, "-c", BUSY, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="throttled", address="127.0.0.1:1", host=spec)
    if reason := cpu.why_not(node, host_for(node)):
        pytest.skip(f"NOT TESTED: CPU limits: {reason}")
    with subprocess.Popen(command, start_new_session=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        await_true(lambda: len(descendants(process.pid)) == 1, "its second process")
        yield node
        cpu.undo_on(node, host_for(node))
        os.killpg(process.pid, signal.SIGKILL)
    assert not Path("/run/brownout-throttled-1.cpu").exists()


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
    undone = cpu.undo_on(node, host)
    assert not undone.already
    assert undone.evidence["periods"] >= undone.evidence["periods_held_back"] >= 5
    assert cpu.left_on(node, host) == ""
    assert groups(host) == before
    used = used_s(host)
    await_true(lambda: used_s(host) > used + 0.5, "the CPU that it had", 60)
    assert cpu.undo_on(node, host).already


def test_a_node_that_needs_less_than_its_limit_is_never_held_back(node: Node, host: Host) -> None:
    cpu.limit(node, host, 64, 60)
    began, used = time.monotonic(), used_s(host)
    await_true(lambda: time.monotonic() > began + 1.0 and used_s(host) > used, "a second")
    undone = cpu.undo_on(node, host)
    assert undone.evidence["periods"] > 0
    assert undone.evidence["periods_held_back"] == 0
    assert "periods" not in cpu.undo_on(node, host).evidence


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


def test_nodes_of_one_name_on_one_machine_are_not_mixed_up(node: Node, host: Host) -> None:
    namesake = node.model_copy(update={"address": "127.0.0.1:2"})
    cpu.limit(node, host, 0.2, 60)
    assert cpu.left_on(namesake, host) == ""
    assert cpu.undo_on(namesake, host).already
    assert cpu.left_on(node, host) != ""


def test_a_limit_that_an_operator_raises_is_seen_to_be_over(
    node: Node, host: Host, tmp_path: Path
) -> None:
    proof = cpu.limit(node, host, 0.2, 60)
    lasting = watched(host, "throttle_node", "unthrottle_node", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    for name in ("cpu.cfs_quota_us", "cpu.max"):
        file = Path(str(proof.evidence["group"])) / name
        if file.exists():
            file.write_text("50000")
    assert lasting.breach().clause == "duration"


@pytest.mark.parametrize("cpus", [0.0, -1.0, 5000.0])
def test_what_no_kernel_can_give_is_refused_before_anything_is_touched(
    node: Node, host: Host, cpus: float
) -> None:
    with pytest.raises(ConfigurationError, match="cpus"):
        cpu.limit(node, host, cpus)
    assert cpu.left_on(node, host) == ""


#: A stand-in for systemctl, whose one unit is in a real control group of its own.
SYSTEMCTL = """#!/bin/sh
group={group}
case "$*" in
"set-property --runtime -- node.service CPUQuota=")
  echo -1 > $group/cpu.cfs_quota_us; echo infinity > {state};;
"set-property --runtime -- node.service CPUQuota="*)
  percent=${{5#CPUQuota=}}; percent=${{percent%\\%}}
  echo $((percent * 1000)) > $group/cpu.cfs_quota_us; echo "${{percent}}0ms" > {state};;
"show --property=CPUQuotaPerSecUSec --value -- node.service") cat {state};;
*) echo "systemctl $*" >&2; exit 1;;
esac
"""


class _Service:
    """The host of a node that systemd runs, as far as its CPU is limited."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def shell(self) -> Shell:
        process = by_id(LocalRunner(), self._host.running().pid or 0)
        return Shell("n1", LocalRunner(), process, 60.0, "node.service")


@pytest.mark.parametrize(("earlier", "quota"), [("infinity", -1), ("1.5s", 150_000)])
def test_a_service_is_limited_by_systemd_and_has_its_own_quota_again(
    node: Node, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    earlier: str, quota: int,
) -> None:  # fmt: skip
    root = Path("/sys/fs/cgroup/cpu")
    if not (root / "cpu.cfs_quota_us").exists():
        pytest.skip("NOT TESTED: a stand-in for systemd: needs control groups of version 1")
    group, state = root / f"brownout-test-{os.getpid()}", tmp_path / "quota"
    group.mkdir()
    state.write_text(f"{earlier}\n")
    (group / "cpu.cfs_quota_us").write_text(str(quota))
    pid = host.running().pid
    assert pid is not None
    processes = [pid, *descendants(pid)]
    for each in processes:
        (group / "cgroup.procs").write_text(str(each))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "systemctl"
    program.write_text(SYSTEMCTL.format(group=group, state=state))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    service = cast(Host, _Service(host))
    try:
        proof = cpu.limit(node, service, 0.2, 60)
        assert proof.evidence["by"] == "systemd"
        assert (group / "cpu.cfs_quota_us").read_text().strip() == "20000"
        assert cpu.left_on(node, service) == "0.2 CPUs by systemd"
        assert not cpu.undo_on(node, service).already
        assert (group / "cpu.cfs_quota_us").read_text().strip() == str(quota)
        assert cpu.undo_on(node, service).already
    finally:
        for each in processes:
            (root / "cgroup.procs").write_text(str(each))
        group.rmdir()


def test_a_control_group_of_the_nodes_own_is_limited_where_it_is(node: Node, host: Host) -> None:
    root = Path("/sys/fs/cgroup/cpu")
    if not (root / "cpu.cfs_quota_us").exists():
        pytest.skip("NOT TESTED: a group of its own: needs control groups of version 1")
    group = root / f"brownout-test-{os.getpid()}"
    group.mkdir()
    pid = host.running().pid
    assert pid is not None
    processes = [pid, *descendants(pid)]
    for each in processes:
        (group / "cgroup.procs").write_text(str(each))
    try:
        assert cpu.limit(node, host, 0.2, 60).evidence["group"] == str(group)
        assert (group / "cpu.cfs_quota_us").read_text().strip() == "20000"
        cpu.undo_on(node, host)
        assert (group / "cpu.cfs_quota_us").read_text().strip() == "-1"
        assert str(pid) in (group / "cgroup.procs").read_text().split()
    finally:
        for each in processes:
            (root / "cgroup.procs").write_text(str(each))
        group.rmdir()


def test_a_limit_that_is_undone_before_it_is_made_does_not_stay(
    node: Node, host: Host, tmp_path: Path
) -> None:
    before = groups(host)
    with held_before("mkdir", "-p", lambda: cpu.limit(node, host, 0.1, 60), tmp_path) as limited:
        cpu.undo_on(node, host)
    with pytest.raises(HostError, match="undone"):
        limited.result()
    assert groups(host) == before
    assert cpu.left_on(node, host) == ""
