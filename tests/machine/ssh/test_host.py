"""A node behind a real sshd: stopped, started, paused, each proven, each safe to repeat."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.machine import switches as switches_of
from tests.sshd import Sshd
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import ConfigurationError, Denied, HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import procfs
from brownout.machine.commands import LocalRunner
from brownout.machine.host import Proof, host_for
from brownout.machine.procfs import Identity
from brownout.machine.ssh import SshHost

NodeAt = Callable[..., Node]


def identity_of(host: SshHost) -> Identity:
    pid = host.running().pid
    assert pid is not None
    identity = procfs.identify(pid)
    assert identity is not None
    return identity


def switches(identity: Identity) -> list[int]:
    return switches_of.armed(LocalRunner(), identity.pid, identity.started)


def await_state(identity: Identity, wanted: str, within_s: float = 15.0) -> None:
    paused = wanted == "paused"
    await_true(lambda: (procfs.thread_states(identity.pid) == {"T"}) is paused, wanted, within_s)


def check_bounds(proof: Proof, asked: float) -> None:
    """The effect lies after the request and before now."""
    earliest = proof.effective_monotonic - proof.uncertainty_s
    assert asked <= earliest <= proof.effective_monotonic <= time.monotonic()


def test_the_host_of_an_ssh_node_is_found_by_its_kind(node_at: NodeAt) -> None:
    assert isinstance(host_for(node_at()), SshHost)


def test_a_started_process_listens_and_outlives_our_connection(host: SshHost, sshd: Sshd) -> None:
    identity = identity_of(host)

    sshd.cut()

    assert identity_of(host) == identity
    assert os.getsid(identity.pid) == identity.pid


def test_the_time_of_a_start_is_that_of_the_process(node_at: NodeAt) -> None:
    host, asked = SshHost(node_at()), time.monotonic()

    proof = host.start()

    check_bounds(proof, asked)
    boot = time.monotonic() - time.clock_gettime(time.CLOCK_BOOTTIME)
    ticks = os.sysconf("SC_CLK_TCK")
    began, tick = boot + identity_of(host).started / ticks, 1 / ticks  # rounded down to a tick
    assert proof.effective_monotonic - proof.uncertainty_s <= began + tick
    assert began <= proof.effective_monotonic
    assert (proof.evidence["state"], proof.evidence["listening"]) == ("running", True)
    assert host.start().already
    host.stop("kill")


@pytest.mark.parametrize("mode", ["clean", "kill"])
def test_a_stopped_process_is_gone_when_the_proof_is_returned(host: SshHost, mode: str) -> None:
    identity, asked = identity_of(host), time.monotonic()

    proof = host.stop("clean" if mode == "clean" else "kill")

    assert not procfs.is_alive(identity)
    check_bounds(proof, asked)
    assert proof.evidence["state"] == "gone"
    assert not proof.already
    assert host.running().describe() == "not running"
    assert host.stop("kill").already


def test_the_time_of_a_stop_is_bounded_by_the_round_trip_around_it(host: SshHost) -> None:
    identity = identity_of(host)
    gone: list[float] = []

    def watch() -> None:
        while procfs.is_alive(identity):
            time.sleep(0.0005)
        gone.append(time.monotonic())

    thread = threading.Thread(target=watch)
    thread.start()
    asked = time.monotonic()
    proof = host.stop("kill")
    thread.join()

    # The watcher is late by up to one of its own turns; NTP may slew the node's clock meanwhile.
    assert proof.effective_monotonic - proof.uncertainty_s <= gone[0] + 0.001
    check_bounds(proof, asked)


def test_a_stop_that_takes_too_long_says_so_and_leaves_the_process(node_at: NodeAt) -> None:
    host = SshHost(node_at(linger_s=30.0, stop_timeout_s=0.4))
    host.start()

    with pytest.raises(HostError, match=r"still runs 0\.4 s after kill -TERM .*stop_timeout_s"):
        host.stop("clean")

    assert host.running().running
    host.stop("kill")


def test_an_unknown_way_to_stop_is_refused(host: SshHost) -> None:
    with pytest.raises(ConfigurationError, match="'pause'"):
        host.stop("pause")  # type: ignore[arg-type]


def test_a_paused_process_has_every_thread_stopped_until_it_is_resumed(host: SshHost) -> None:
    identity, asked = identity_of(host), time.monotonic()

    paused = host.pause()
    assert procfs.thread_states(identity.pid) == {"T"}
    assert host.running().describe() == f"paused, pid {identity.pid}"
    assert host.pause().already
    check_bounds(paused, asked)

    resumed = host.resume()
    assert "T" not in procfs.thread_states(identity.pid)
    assert host.resume().already
    assert (paused.evidence["state"], resumed.evidence["state"]) == ("paused", "running")


def test_a_paused_process_can_be_killed_but_not_asked_to_stop(host: SshHost) -> None:
    host.pause()

    with pytest.raises(Refused, match="paused and would not hear it; resume it first"):
        host.stop("clean")
    assert not host.stop("kill").already


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_what_is_not_running_cannot_be_paused_or_resumed(act: str, node_at: NodeAt) -> None:
    with pytest.raises(Denied, match=f"node `n1` is not {act}d: it is not running; start it"):
        getattr(SshHost(node_at()), act)()


def test_a_pause_undoes_itself_on_the_node_when_we_cannot(host: SshHost, sshd: Sshd) -> None:
    identity = identity_of(host)
    proof = host.pause(undo_after_s=5.0)
    assert proof.evidence["undo_after_s"] == 5.0

    sshd.stop()  # our way in is cut, and nothing of ours on the node hears of it

    await_state(identity, "running")
    sshd.start()
    assert switches(identity) == []


def test_a_resume_leaves_no_switch_behind(host: SshHost) -> None:
    identity = identity_of(host)
    host.pause()
    assert len(switches(identity)) == 1

    host.pause()  # arms another one in place of the first
    assert len(switches(identity)) == 1
    host.resume()

    assert switches(identity) == []


def test_a_switch_touches_no_process_that_has_the_same_id_by_chance(host: SshHost) -> None:
    identity = identity_of(host)
    os.kill(identity.pid, signal.SIGSTOP)

    switches_of.arm(LocalRunner(), identity.pid, identity.started + 1, after_s=1)
    await_true(lambda: not switches_of.armed(LocalRunner(), identity.pid, identity.started + 1))

    await_state(identity, "paused")


def test_a_connection_that_breaks_in_the_midst_of_a_stop_does_not_lose_it(
    node_at: NodeAt, sshd: Sshd
) -> None:
    host = SshHost(node_at(linger_s=1.5))
    host.start()
    identity, asked = identity_of(host), time.monotonic()
    threading.Timer(0.7, sshd.cut).start()

    proof = host.stop("clean")

    assert not procfs.is_alive(identity)
    assert not proof.already
    assert proof.evidence["attempts"] == 2
    check_bounds(proof, asked)


def test_a_fault_is_mended_over_a_new_connection(host: SshHost, sshd: Sshd) -> None:
    identity = identity_of(host)
    host.pause()

    sshd.cut()

    assert not host.resume().already
    await_state(identity, "running")
    assert sshd.log().count("Accepted publickey") == 2


def test_a_pid_file_that_names_another_program_is_not_believed(
    node_at: NodeAt, tmp_path: Path
) -> None:
    host = SshHost(node_at())
    (tmp_path / "node.pid").write_text("1\n")

    state = host.running()

    assert not state.running
    assert state.evidence["stale_pid"] == 1
    assert host.stop("kill").already


def test_a_command_that_names_somebody_elses_process_is_an_error(node_at: NodeAt) -> None:
    node = node_at(commands={"pid_file": None, "pid_command": "echo 1"})

    with pytest.raises(HostError, match=r"pid_command names process 1 \(.*wanted one of its own"):
        SshHost(node).stop("kill")


def test_a_process_is_found_by_a_command_too(node_at: NodeAt, tmp_path: Path) -> None:
    pid_command = f"cat {tmp_path / 'node.pid'}"
    host = SshHost(node_at(commands={"pid_file": None, "pid_command": pid_command}))
    host.start()

    assert identity_of(host).pid == int((tmp_path / "node.pid").read_text())
    host.stop("kill")


def test_a_start_that_fails_at_once_says_the_last_words_of_its_log(node_at: NodeAt) -> None:
    host = SshHost(node_at(commands={"start": "echo no such volume; exit 3"}))

    with pytest.raises(HostError, match=naming("status 3", "no such volume")):
        host.start()


def test_a_start_that_leaves_nothing_behind_is_an_error(node_at: NodeAt) -> None:
    host = SshHost(node_at(commands={"start": "true", "log_file": None}))

    with pytest.raises(HostError, match=r"`commands\.log_file`"):
        host.start()


def test_files_and_names_are_read_on_the_node(host: SshHost, tmp_path: Path) -> None:
    odd = tmp_path / "two words\nand a line"
    odd.mkdir()
    (odd / "a b\n.conf").write_text("storage: {}\n")

    assert host.entries(odd) == ["a b\n.conf"]
    assert host.read_text(odd / "a b\n.conf") == "storage: {}\n"
    with pytest.raises(HostError, match=r"`/no/such` cannot be read on .*No such file"):
        host.read_text(Path("/no/such"))
    with pytest.raises(HostError, match=r"`/no/such` cannot be listed on .*No such file"):
        host.entries(Path("/no/such"))


def test_two_addresses_of_one_machine_are_one_machine(node_at: NodeAt, sshd: Sshd) -> None:
    line = sshd.known_hosts.read_text()
    sshd.known_hosts.write_text(line + line.replace("127.0.0.1", "localhost"))

    names = {SshHost(node_at(address=name)).machine for name in ("127.0.0.1", "localhost")}

    assert len(names) == 1
