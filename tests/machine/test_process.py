"""A process of this machine: stopped, started, paused, each proven, each safe to repeat."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.wording import naming

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import launch, procfs
from brownout.machine.host import host_for
from brownout.machine.process import ProcessHost

NodeOf = Callable[..., Node]


@pytest.fixture
def node(listening_node: Node) -> Iterator[Node]:
    """A running node that listens."""
    ProcessHost(listening_node).start()
    yield listening_node
    ProcessHost(listening_node).stop("kill")


def pid_file(node: Node) -> Path:
    assert isinstance(node.host, ProcessSpec)
    return node.host.pid_file


def running_pid(node: Node) -> int:
    pid = ProcessHost(node).running().pid
    assert pid is not None
    return pid


def test_the_host_of_a_process_node_is_found_by_its_kind(waiting_node: Node) -> None:
    assert isinstance(host_for(waiting_node), ProcessHost)


def test_a_started_process_listens_in_a_session_of_its_own(node: Node) -> None:
    state = ProcessHost(node).running()

    assert state.running
    assert state.pid is not None
    assert os.getsid(state.pid) == state.pid
    assert pid_file(node).read_text() == f"{state.pid}\n"


def test_a_started_process_keeps_no_file_of_its_starters_open(listening_node: Node) -> None:
    read, write = os.pipe()  # as `flock` lets the command that it runs have its lock
    os.set_inheritable(write, True)
    ProcessHost(listening_node).start()
    try:
        os.close(write)
        os.set_blocking(read, False)
        assert os.read(read, 1) == b""  # end of file: the node did not inherit the write end
    finally:
        os.close(read)
        ProcessHost(listening_node).stop("kill")


def test_starting_again_changes_nothing(node: Node) -> None:
    before = running_pid(node)

    proof = ProcessHost(node).start()

    assert proof.already
    assert running_pid(node) == before


@pytest.mark.parametrize(("mode", "number"), [("clean", "SIGTERM"), ("kill", "SIGKILL")])
def test_a_stopped_process_is_gone_and_reaped_when_the_proof_is_returned(
    node: Node, mode: str, number: str
) -> None:
    pid, asked = running_pid(node), time.monotonic()

    proof = ProcessHost(node).stop("clean" if mode == "clean" else "kill")

    assert not Path("/proc", str(pid)).exists()
    assert (proof.evidence["signal"], proof.evidence["state"]) == (number, "gone")
    assert asked < proof.effective_monotonic <= time.monotonic()
    assert 0 <= proof.uncertainty_s <= proof.effective_monotonic - asked
    assert not ProcessHost(node).running().running


@pytest.mark.parametrize("mode", ["clean", "kill"])
def test_stopping_what_is_stopped_changes_nothing(mode: str, waiting_node: Node) -> None:
    proof = ProcessHost(waiting_node).stop("clean" if mode == "clean" else "kill")

    assert proof.already
    assert proof.evidence == {"state": "gone"}


def test_an_unknown_way_to_stop_is_refused(node: Node) -> None:
    with pytest.raises(ConfigurationError, match="found 'pause', wanted clean or kill"):
        ProcessHost(node).stop("pause")  # type: ignore[arg-type]


def test_a_paused_process_has_every_thread_stopped_until_it_is_resumed(node: Node) -> None:
    host = ProcessHost(node)

    paused = host.pause()
    assert procfs.thread_states(running_pid(node)) == {"T"}
    assert host.running().describe() == f"paused, pid {running_pid(node)}"
    assert host.pause().already

    resumed = host.resume()
    assert "T" not in procfs.thread_states(running_pid(node))
    assert host.resume().already
    assert paused.effective_monotonic < resumed.effective_monotonic
    assert (paused.evidence["state"], resumed.evidence["state"]) == ("paused", "running")


def test_a_paused_process_can_be_killed_but_not_asked_to_stop(node: Node) -> None:
    host = ProcessHost(node)
    host.pause()

    with pytest.raises(Refused, match="paused and would not hear it; resume it first"):
        host.stop("clean")
    assert not host.stop("kill").already


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_what_is_not_running_cannot_be_paused_or_resumed(act: str, waiting_node: Node) -> None:
    host = ProcessHost(waiting_node)

    with pytest.raises(HostError, match=f"node `n1` is not {act}d: it is not running; start it"):
        getattr(host, act)()


def test_a_process_has_no_reboot_which_is_said_and_not_replaced(node: Node) -> None:
    pid = running_pid(node)

    proof = ProcessHost(node).reboot()

    assert proof.skipped
    assert "no reboot of its own" in proof.evidence["reason"]
    assert running_pid(node) == pid


def test_a_process_that_ignores_sigterm_is_reported_and_left_alone(
    tmp_path: Path, node_of: NodeOf
) -> None:
    script = "trap '' TERM; while :; do sleep 0.05; done"
    node = node_of(["/bin/sh", "-c", script, str(tmp_path / "node.conf")])
    assert isinstance(node.host, ProcessSpec)
    node = node.model_copy(update={"host": node.host.model_copy(update={"stop_timeout_s": 0.2})})
    host = ProcessHost(node)
    host.start()
    try:
        with pytest.raises(HostError, match=r"still runs 0\.2 s after SIGTERM"):
            host.stop("clean")
        assert host.running().running
    finally:
        host.stop("kill")


def test_a_process_that_ends_at_once_is_an_error_with_its_last_words(node_of: NodeOf) -> None:
    node = node_of(["/bin/sh", "-c", "echo the disk is missing; exit 14"])

    with pytest.raises(HostError) as caught:
        ProcessHost(node).start()

    assert "did not start: it ended at once with status 14" in str(caught.value)
    assert "its log ends: the disk is missing" in str(caught.value)


def test_another_program_at_its_address_is_not_taken_for_it(node_of: NodeOf) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        command = ["/bin/sh", "-c", "sleep 0.2; echo the address is in use; exit 1"]
        node = node_of(command, other.getsockname()[1])

        with pytest.raises(HostError, match="with status 1; its log ends: the address is in use"):
            ProcessHost(node).start()


def test_a_process_that_has_no_command_line_yet_is_looked_for_again(waiting_node: Node) -> None:
    """While the kernel reads a program from a busy disk, its process has an empty one."""
    host = ProcessHost(waiting_node)
    assert isinstance(waiting_node.host, ProcessSpec)
    looks = iter([None, None, None])
    try:
        proof = launch.launch(
            waiting_node.name, waiting_node.address, waiting_node.host,
            lambda: next(looks, host._locate().process),
        )  # fmt: skip
        assert proof.evidence["state"] == "running"
    finally:
        host.stop("kill")


def test_a_program_that_is_not_there_is_named(node_of: NodeOf) -> None:
    with pytest.raises(HostError, match="`no-such-program` cannot be started"):
        ProcessHost(node_of(["no-such-program"])).start()


def test_a_pid_file_that_cannot_be_written_is_an_error_and_nothing_runs(waiting_node: Node) -> None:
    pid_file(waiting_node).mkdir()

    with pytest.raises(HostError, match=naming("n1", pid_file(waiting_node))):
        ProcessHost(waiting_node).start()
    assert not ProcessHost(waiting_node).running().running


def test_a_command_that_leaves_a_daemon_behind_is_found_by_its_pid_file(
    tmp_path: Path, node_of: NodeOf
) -> None:
    program = tmp_path / "daemon.sh"
    program.write_text(
        textwrap.dedent(
            """\
            #!/bin/sh
            if [ -z "$CHILD" ]; then
                CHILD=1 "$0" "$1" >/dev/null 2>&1 &
                echo $! > "${1%.conf}.pid"
                exit 0
            fi
            while :; do sleep 0.05; done
            """
        ),
        encoding="utf-8",
    )
    program.chmod(0o755)
    host = ProcessHost(node_of([str(program), str(tmp_path / "node.conf")]))
    try:
        started = host.start()
        assert started.evidence["pid"] == int((tmp_path / "node.pid").read_text())
    finally:
        host.stop("kill")


def test_it_survives_the_process_that_started_it(waiting_node: Node) -> None:
    script = (
        "import sys\n"
        "from brownout.inventory.model import Node, ProcessSpec\n"
        "from brownout.machine.process import ProcessHost\n"
        "host = ProcessSpec.model_validate_json(sys.argv[1])\n"
        "ProcessHost(Node(name='n1', address='127.0.0.1:1', host=host)).start()\n"
    )
    assert waiting_node.host is not None
    subprocess.run([sys.executable, "-c", script, waiting_node.host.model_dump_json()], check=True)

    host = ProcessHost(waiting_node)
    assert host.running().running
    assert host.stop("kill").evidence["state"] == "gone"


class TestIdentity:
    """The id in a pid file alone moves nobody."""

    def test_a_recycled_pid_is_never_signalled(self, waiting_node: Node) -> None:
        with subprocess.Popen(["sleep", "60"]) as stranger:
            pid_file(waiting_node).write_text(f"{stranger.pid}\n")

            assert ProcessHost(waiting_node).stop("kill").already

            assert stranger.poll() is None
            stranger.kill()

    def test_a_stale_pid_file_does_not_hide_the_process(self, node: Node) -> None:
        pid = running_pid(node)
        pid_file(node).write_text("999999\n")

        assert running_pid(node) == pid

    def test_a_pid_file_with_more_lines_names_the_process_by_its_first(self, node: Node) -> None:
        """As PostgreSQL's `postmaster.pid` does."""
        assert isinstance(node.host, ProcessSpec)
        pid = running_pid(node)
        pid_file(node).write_text(f"{pid}\n/var/lib/data\n1796000000\n5432\n\n*\nready   \n")
        unnamed = node.host.model_copy(update={"config_file": None})

        assert running_pid(node.model_copy(update={"host": unnamed})) == pid

    @pytest.mark.parametrize("content", ["", "not a number", "-1", "0"])
    def test_a_broken_pid_file_names_nobody(self, waiting_node: Node, content: str) -> None:
        pid_file(waiting_node).write_text(content)

        assert not ProcessHost(waiting_node).running().running

    def test_a_process_is_found_as_soon_as_it_runs_its_program(self) -> None:
        missed = 0
        for _ in range(200):  # without a second look one in 25 was missed
            with subprocess.Popen(["sleep", "61.5"]) as started:
                found = procfs.find(["sleep", "61.5"])
                missed += started.pid not in [identity.pid for identity in found]
                started.kill()
        assert missed == 0

    def test_a_command_that_others_may_run_too_is_not_taken_for_the_nodes(
        self, node_of: NodeOf
    ) -> None:
        node = node_of(["sleep", "61.75"])
        with subprocess.Popen(["sleep", "61.75"]) as other:
            with pytest.raises(HostError, match=rf"process {other.pid} runs the same command"):
                ProcessHost(node).stop("kill")
            assert other.poll() is None
            other.kill()

    def test_a_handle_of_a_process_that_ended_is_refused(self, node: Node) -> None:
        identity = procfs.identify(running_pid(node))
        assert identity is not None
        ProcessHost(node).stop("kill")

        with pytest.raises(HostError, match=r"cannot be reached|ended or is another one"):
            procfs.Handle(identity)

    def test_a_zombie_of_somebody_else_counts_as_gone(self) -> None:
        child = subprocess.Popen(["true"])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        try:
            assert procfs.identify(child.pid) is None
        finally:
            child.wait()

    def test_it_is_not_gone_before_its_last_thread_is(self) -> None:
        """The first thread may end long before the others, and then looks like a zombie."""
        script = (
            "import ctypes, threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,)).start()\n"
            "print('ready', flush=True)\n"
            "ctypes.CDLL(None).pthread_exit(None)\n"
        )
        command = [sys.executable, "-c", script]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            child.stdout.readline()
            while (stat := Path("/proc", str(child.pid), "stat").read_text()).split()[2] != "Z":
                time.sleep(0.01)
            started = int(stat.rpartition(")")[2].split()[19])

            assert procfs.is_alive(procfs.Identity(child.pid, started, ()))
            os.kill(child.pid, signal.SIGKILL)
