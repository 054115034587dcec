"""A node has its CPU stolen by processes beside it, for real, and has it again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.machine.held import held_before
from tests.machine.test_cpu import used_s
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import steal
from brownout.machine.host import Host, host_for

#: Uses all the CPU that it gets, in a process of its own.
_BUSY = "import os, time\nif os.fork():\n    time.sleep(600)\nwhile True: pass"
_RECORD = Path("/run/brownout-robbed-1.steal")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    command = (sys.executable, "-c", _BUSY, str(tmp_path))
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=command)
    node = Node(name="robbed", address="127.0.0.1:1", host=spec)
    if reason := steal.why_not(node, host_for(node)):
        pytest.skip(f"NOT TESTED: stolen CPU: {reason}")
    with subprocess.Popen(command, start_new_session=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        await_true(lambda: len(descendants(process.pid)) == 1, "its second process")
        yield node
        steal.undo_on(node, host_for(node))
        os.killpg(process.pid, signal.SIGKILL)
    assert not _RECORD.exists()
    assert hogs() == []


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


def hogs() -> list[str]:
    groups = [
        path.read_text()
        for path in Path("/sys/fs/cgroup").glob("*/brownout-robbed-1-steal/cgroup.procs")
    ]
    return [pid for text in groups for pid in text.split()]


def affinities(host: Host) -> list[set[int]]:
    pid = host.running().pid
    assert pid is not None
    return [os.sched_getaffinity(each) for each in (pid, *descendants(pid))]


def share(host: Host) -> float:
    began, used = time.monotonic(), used_s(host)
    await_true(lambda: time.monotonic() > began + 1.0, "a second")
    return (used_s(host) - used) / (time.monotonic() - began)


def test_the_node_keeps_what_is_left_of_its_cpu_and_has_all_of_it_again(
    node: Node, host: Host
) -> None:
    before = affinities(host)
    proof = steal.steal(node, host, 0.8, 60)
    assert not proof.already
    assert proof.evidence["got_cpus"] == pytest.approx(0.8, abs=0.25)
    assert proof.evidence["node_waited_ms"] > 0
    assert [len(cpus) for cpus in affinities(host)] == [1, 1]
    assert share(host) < 0.45  # a fifth of the CPU, and a period may be spent already
    assert steal.left_on(node, host).startswith("0.8 CPUs by ")
    assert not steal.undo_on(node, host).already
    assert affinities(host) == before
    assert hogs() == []
    assert steal.undo_on(node, host).already


#: A server that no supervisor is a parent of, with a thread that has only the first CPU.
_SERVER = """
import os, sys, threading, time
def pinned():
    os.sched_setaffinity(threading.get_native_id(), {0})
    open("ready", "w").close()
    time.sleep(600)
threading.Thread(target=pinned, daemon=True).start()
time.sleep(600)
"""


def masks(pid: int) -> dict[int, set[int]]:
    return {
        int(task.name): os.sched_getaffinity(int(task.name))
        for task in Path(f"/proc/{pid}/task").iterdir()
    }


@pytest.mark.parametrize("by_itself", [False, True])
def test_a_server_that_is_not_below_its_supervisor_has_each_of_its_threads_where_it_was(
    node: Node, tmp_path: Path, by_itself: bool
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    assert isinstance(node.host, ProcessSpec)
    spec = node.host.model_copy(update={"server_directory": data})
    node = node.model_copy(update={"host": spec})
    host = host_for(node)
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], cwd=data, start_new_session=True
    ) as server:
        await_true((data / "ready").exists)
        before = masks(server.pid)
        assert len(set(map(frozenset, before.values()))) == 2, "one thread has its own CPU"
        switch = steal.steal(node, host, 0.5, 600).evidence["undo_pid"]
        assert set(map(len, masks(server.pid).values())) == {1}
        if by_itself:
            (sleep,) = descendants(switch)
            os.kill(sleep, signal.SIGTERM)
            await_true(lambda: steal.left_on(node, host) == "", "the undo")
        else:
            steal.undo_on(node, host)
        assert masks(server.pid) == before
        server.kill()


def test_it_undoes_itself_after_its_limit(node: Node, host: Host) -> None:
    before = affinities(host)
    switch = steal.steal(node, host, 0.5, 600).evidence["undo_pid"]
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: steal.left_on(node, host) == "", "the undo")
    assert (affinities(host), hogs()) == (before, [])


def test_hogs_that_are_ended_are_seen_to_be_over(node: Node, host: Host, tmp_path: Path) -> None:
    proof = steal.steal(node, host, 0.5, 60)
    lasting = watched(host, "steal_cpu", "return_cpu", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    for pid in hogs():
        os.kill(int(pid), signal.SIGKILL)
    assert lasting.breach().clause == "duration"


def test_more_than_half_of_this_machine_is_refused(node: Node, host: Host) -> None:
    there = os.cpu_count() or 1
    assert steal.refusals(node, host, there / 2, shared=False) == []
    (words,) = steal.refusals(node, host, there / 2 + 0.1, shared=True)
    assert "half" in words


@pytest.mark.parametrize("cpus", [0.0, -1.0, 5000.0])
def test_what_is_not_a_number_of_cpus_is_refused(node: Node, host: Host, cpus: float) -> None:
    with pytest.raises(ConfigurationError, match="cpus"):
        steal.steal(node, host, cpus)
    assert steal.left_on(node, host) == ""


def test_what_is_undone_before_it_is_done_steals_nothing(
    node: Node, host: Host, tmp_path: Path
) -> None:
    before = affinities(host)
    stealing = lambda: steal.steal(node, host, 0.5, 60)  # noqa: E731
    with held_before("taskset", "-acp", stealing, tmp_path) as stolen:
        steal.undo_on(node, host)
    with pytest.raises(HostError, match="undone"):
        stolen.result()
    assert (affinities(host), hogs()) == (before, [])


def test_an_undo_that_another_one_overtakes_is_done(node: Node, host: Host, tmp_path: Path) -> None:
    before = affinities(host)
    steal.steal(node, host, 0.5, 60)
    with held_before("taskset", "-cp", lambda: steal.undo_on(node, host), tmp_path) as undone:
        steal.undo_on(node, host)
    assert undone.result().evidence == {"state": "not stolen"}
    assert (affinities(host), hogs()) == (before, [])
