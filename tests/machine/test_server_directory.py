"""What works in a directory is killed, paused and resumed together, and nothing else is."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import await_true, state_of

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import server_directory
from brownout.machine import supervisor as supervisors
from brownout.machine.commands import LocalRunner
from brownout.machine.host import host_for

#: One that starts another, as a server does, and then waits.
FORKING = "import os, time; os.fork() or os.setsid(); time.sleep(600)"


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Path]:
    """A directory in which two processes work, of which none is the other's group or session."""
    directory = tmp_path / "data"
    directory.mkdir()
    process = subprocess.Popen([sys.executable, "-c", FORKING], cwd=directory)
    try:
        await_true(lambda: len(server_directory.pids(LocalRunner(), directory)) == 2, "both work")
        yield directory
    finally:
        server_directory.kill(LocalRunner(), directory)
        process.wait()


def test_all_that_works_there_is_killed_and_nothing_elsewhere(server: Path) -> None:
    with subprocess.Popen(["sleep", "600"], cwd=server.parent) as other:
        pids = server_directory.pids(LocalRunner(), server)
        proof = server_directory.kill(LocalRunner(), server)
        assert proof.evidence["processes_in_server_directory"] == 2
        assert not proof.already
        assert {state_of(pid) for pid in pids} <= {"gone", "Z"}
        assert other.poll() is None
        other.kill()
    assert server_directory.kill(LocalRunner(), server).already


def test_all_that_works_there_is_paused_and_goes_on(server: Path) -> None:
    pids = server_directory.pids(LocalRunner(), server)
    proof = server_directory.freeze(LocalRunner(), server, 600)
    assert proof.evidence["processes_in_server_directory"] == 2
    assert [state_of(pid) for pid in pids] == ["T", "T"]
    server_directory.thaw(LocalRunner(), server)
    assert "T" not in [state_of(pid) for pid in pids]


def test_a_shell_that_begins_there_does_not_hit_itself(server: Path) -> None:
    inside = LocalRunner(["env", f"--chdir={server}"])
    proof = server_directory.freeze(inside, server, 600)
    assert proof.evidence["processes_in_server_directory"] == 2
    server_directory.thaw(inside, server)
    assert server_directory.kill(inside, server).evidence["processes_in_server_directory"] == 2


def test_what_was_paused_goes_on_by_itself_after_its_limit(server: Path) -> None:
    pids = server_directory.pids(LocalRunner(), server)
    server_directory.freeze(LocalRunner(), server, 8)
    await_true(lambda: "T" not in [state_of(pid) for pid in pids], "they go on")


def test_a_limit_that_is_over_before_all_is_paused_leaves_nothing_paused(server: Path) -> None:
    pids = server_directory.pids(LocalRunner(), server)
    with pytest.raises(HostError, match=r"by itself|no dead man's switch"):
        server_directory.freeze(LocalRunner(), server, 0)
    assert "T" not in [state_of(pid) for pid in pids]


def test_a_switch_whose_time_is_over_counts_for_nothing_though_it_still_runs(
    server: Path, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sleep").write_text(
        f'#!/bin/sh\n[ "$1" != 0 ] || set 600\n{shutil.which("sleep")} $1\n'
    )
    (slow / "sleep").chmod(0o755)
    runner = LocalRunner(["env", f"PATH={slow}:{os.environ['PATH']}"])
    pids = server_directory.pids(runner, server)
    with pytest.raises(HostError, match="by itself"):
        server_directory.freeze(runner, server, 0)
    assert "T" not in [state_of(pid) for pid in pids]
    server_directory.thaw(runner, server)


def test_a_persons_shell_in_there_is_left_alone(server: Path) -> None:
    ours, terminal = os.openpty()
    command = ["setsid", "--ctty", "sleep", "600"]
    with subprocess.Popen(command, cwd=server, stdin=terminal) as shell:
        title = Path(f"/proc/{shell.pid}/cmdline")
        await_true(lambda: title.read_bytes().startswith(b"sleep"), "it has its terminal")
        assert shell.pid not in server_directory.pids(LocalRunner(), server)
        server_directory.kill(LocalRunner(), server)
        assert shell.poll() is None
        shell.kill()
    os.close(ours)
    os.close(terminal)


def test_a_node_is_its_own_process_and_those(server: Path, tmp_path: Path) -> None:
    host = ProcessSpec(pid_file=tmp_path / "pid", command=("sleep", "601"), server_directory=server)
    node = host_for(Node(name="n1", address="127.0.0.1:1", host=host))
    node.start()
    pids = [node.running().pid, *server_directory.pids(LocalRunner(), server)]
    node.pause(600)
    assert [state_of(pid) for pid in pids if pid] == ["T"] * 3
    node.resume()
    assert "T" not in [state_of(pid) for pid in pids if pid]
    proof = node.stop("kill")
    assert proof.evidence["processes_in_server_directory"] == 2
    assert {state_of(pid) for pid in pids if pid} <= {"gone", "Z"}
    assert node.stop("kill").already


def supervisor(where: Path, directory: Path | None, *command: str) -> Node:
    host = ProcessSpec(pid_file=where / "pid", command=command, server_directory=directory)
    return Node(name="n1", address="127.0.0.1:1", host=host)


def test_a_server_without_a_supervisor_resumes_once_and_it_counts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    spec = ProcessSpec(
        pid_file=tmp_path / "pid",
        command=("sleep", "6041"),  # no other test has a process of this command
        working_directory=data,
        server_directory=data,
    )
    host = host_for(Node(name="n1", address="127.0.0.1:1", host=spec))
    host.start()
    try:
        host.pause()
        resumed = host.resume()
        assert not resumed.already
        assert resumed.evidence["processes_in_server_directory"] == 1
        assert host.resume().already
    finally:
        host.stop("kill")


def test_a_supervisor_dies_alone_and_its_server_goes_on(server: Path, tmp_path: Path) -> None:
    node = supervisor(tmp_path, server, "sleep", "602")
    host_for(node).start()
    pids = server_directory.pids(LocalRunner(), server)
    (first,) = supervisors.servers(host_for(node).shell())
    assert first in pids  # and not what that one has started
    proof = supervisors.kill(host_for(node).shell())
    assert proof.evidence["servers"] == [first]
    assert not host_for(node).running().running
    assert sorted(server_directory.pids(LocalRunner(), server)) == sorted(pids)
    assert supervisors.kill(host_for(node).shell()).already
    host_for(node).start()
    host_for(node).stop("kill")
    assert server_directory.pids(LocalRunner(), server) == []


def test_a_supervisor_of_nothing_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    node = supervisor(tmp_path, tmp_path / "data", "sleep", "603")
    host_for(node).start()
    assert supervisors.servers(host_for(node).shell()) == []
    with pytest.raises(Refused, match="does not supervise another one"):
        supervisors.kill(host_for(node).shell())
    assert host_for(node).running().running
    host_for(node).stop("kill")


#: It ends a while after its parent.
LAGGING = """
import os, time
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.01)
time.sleep(0.3)
"""


@pytest.mark.parametrize(
    "server",
    [("setpriv", "--pdeathsig", "KILL", "sleep", "600"), (sys.executable, "-c", LAGGING)],
    ids=["at once", "after a while"],
)
def test_a_server_that_ends_with_its_supervisor_is_no_success(
    server: tuple[str, ...], tmp_path: Path
) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    command = f"(cd '{directory}' && exec {shlex.join(server)}) & wait"
    node = supervisor(tmp_path, directory, "sh", "-c", command)
    host_for(node).start()
    await_true(
        lambda: (
            [name_of(pid)[:6] for pid in server_directory.pids(LocalRunner(), directory)]
            in (["sleep"], ["python"])
        ),
        "its server runs, and would end with it",
    )
    with pytest.raises(HostError, match="ended with its supervisor"):
        supervisors.kill(host_for(node).shell())


def test_a_node_of_one_process_has_no_supervisor(tmp_path: Path) -> None:
    node = supervisor(tmp_path, None, "sleep", "604")
    assert "set `host.server_directory`" in supervisors.why_not(host_for(node).shell())
