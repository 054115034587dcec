"""A machine that is reached by ssh sends late: on a kernel that has netem, and on one that may not.

The first is booted for these tests (`tests.uml`), since the kernels of small machines lack netem.
"""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import uml
from tests.links import Link, delayable
from tests.machine.ssh.test_partition import sshd_in
from tests.machine.test_partition import PORT, Places, places, rooted
from tests.sshd import WHY_NOT, Sshd
from tests.uml import Machine
from tests.waiting import await_true

from brownout.base.errors import Unsupported
from brownout.base.wait import wait_until
from brownout.databases.lab import network as lab_network
from brownout.inventory.model import Node
from brownout.machine import netem
from brownout.machine.commands import answer, script
from brownout.machine.ssh import SshSpec, pool
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.pool import connection_for

__all__ = ["places"]

pytestmark = [rooted, pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: ssh: {WHY_NOT}")]

#: Answers what it is told at its own address, by TCP and by UDP.
_ECHO = f"""
import socket, sys, threading
listener = socket.create_server((sys.argv[1], {PORT}))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind((sys.argv[1], {PORT}))
def echo_datagrams():
    while True:
        datagrams.sendto(*datagrams.recvfrom(100))
def echo(there):
    while got := there.recv(100):
        there.sendall(got)
threading.Thread(target=echo_datagrams, daemon=True).start()
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine whose kernel has netem, as a module that nobody has loaded yet."""
    if reason := uml.why_not():
        pytest.skip(f"NOT TESTED: netem over ssh: {reason}")
    files, network = tmp_path_factory.mktemp("uml"), tmp_path_factory.mktemp("network")
    if reason := uml.unpacked(files):
        pytest.skip(f"NOT TESTED: netem over ssh: {reason}")
    with contextlib.ExitStack() as stack:
        stack.callback(lab_network.remove, network)
        (place,) = lab_network.make(network, ["n1"]).values()
        made = Machine(files, network / "machine", place, _ECHO, place.address)
        stack.callback(made.stop)
        stack.callback(pool.close_all)
        yield made.start()


@pytest.fixture
def host(machine: Machine) -> Iterator[Link]:
    """The host of a node there, which is as fast as it is at the start and after the test."""
    made = host_at(machine.sshd)
    assert made.delayed() == ""
    yield made
    made.undelay()


def host_at(sshd: Sshd, undo_after_s: float = 60.0) -> Link:
    commands = {"start": "true", "stop": "true", "pid_file": "/nowhere/pid", "program": "sleep"}
    spec = SshSpec.model_validate(
        {**sshd.login(), "commands": commands, "undo_after_s": undo_after_s}
    )
    return Link(Node(name="n1", address=f"{sshd.address}:{PORT}", host=spec))


def said(machine: Machine, body: str) -> list[str]:
    """Return the lines that a script prints there."""
    spec = SshSpec.model_validate({**machine.sshd.login(), "service": "any"})
    runner = SshRunner(connection_for(spec.login(machine.sshd.address)))
    done = runner.run(script(body))
    answer(done, "asking", runner.where)
    return done.output.splitlines()


def qdiscs(machine: Machine) -> list[str]:
    return said(machine, "tc qdisc show")


def switches(machine: Machine) -> list[str]:
    """Return the processes there that wait to undo a delay."""
    others_than_this_grep = f"[{netem.MARK[0]}]{netem.MARK[1:]}"
    return said(machine, f"grep -ls -- '{others_than_this_grep}' /proc/[0-9]*/cmdline || true")


def await_no_switch(machine: Machine) -> None:
    await_true(lambda: not switches(machine), "the end of its switch")


def took_ms(machine: Machine) -> list[float]:
    """Return how long each of some answers took, over one connection."""
    with socket.create_connection((machine.sshd.address, PORT), 60) as there:
        took = []
        for _ in range(4):
            asked = time.monotonic()
            there.sendall(b"x")
            there.recv(1)
            took.append(1000 * (time.monotonic() - asked))
        return took


@pytest.mark.quiet
@pytest.mark.matrix
class TestOnAKernelWithNetem:
    def test_what_it_sends_arrives_later_and_our_own_way_in_is_as_fast_as_before(
        self, machine: Machine, host: Link
    ) -> None:
        before = qdiscs(machine)
        print(f"as it is: {min(took_ms(machine)):.1f} ms")
        proof = host.delay(900, 0)
        print(f"slowed by 900 ms: {sorted(round(each, 1) for each in took_ms(machine))} ms")
        evidence = dict(proof.evidence)
        assert evidence.pop("undo_pid") > 0
        assert evidence == {
            "state": "slowed", "by": "netem", "latency_ms": 900, "jitter_ms": 0,
            "interface": "vec0", "spared_ports": [machine.sshd.port], "undo_after_s": 60.0,
        }  # fmt: skip
        assert not proof.already
        assert 0 < proof.uncertainty_s < 5
        assert host.delayed() == "900 ms by netem"
        assert min(took_ms(machine)) >= 900
        asked = time.monotonic()
        said(machine, "true")  # several packets of its sshd
        own = 1000 * (time.monotonic() - asked)
        print(f"a command over ssh meanwhile: {own:.1f} ms")
        assert own < 900
        assert len(switches(machine)) == 1
        assert not host.undelay().already
        print(f"let go: {min(took_ms(machine)):.1f} ms")
        assert min(took_ms(machine)) < 900
        assert qdiscs(machine) == before
        await_no_switch(machine)
        assert host.undelay().already

    def test_another_size_takes_the_place_of_the_first(self, machine: Machine, host: Link) -> None:
        host.delay(300, 0)
        assert host.delay(300, 0).already
        assert not host.delay(600, 20).already
        assert host.delayed() == "600 ms ± 20 ms by netem"
        assert min(took_ms(machine)) >= 580

    def test_what_is_held_back_arrives_though_it_is_let_go(
        self, machine: Machine, host: Link
    ) -> None:
        host.delay(3000, 0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
            there.settimeout(20)
            there.sendto(b"held back", (machine.sshd.address, PORT))
            time.sleep(0.5)  # it is there, and its answer waits
            proof = host.undelay()
            assert there.recv(100) == b"held back"
        assert "dropped_packets" not in proof.evidence
        assert proof.evidence["delayed_packets"] == 1

    def test_what_is_asked_by_arp_alone_is_not_slowed_and_does_not_count(
        self, machine: Machine, host: Link
    ) -> None:
        host.delay(3000, 0)
        said(machine, "ip neigh flush all")  # its next packet to us asks for our address first
        asked = time.monotonic()
        said(machine, "true")
        assert time.monotonic() - asked < 3
        assert host.undelay().evidence["delayed_packets"] == 0

    def test_it_undoes_it_by_itself_though_every_connection_of_ours_is_gone(
        self, machine: Machine
    ) -> None:
        before = qdiscs(machine)
        host_at(machine.sshd, undo_after_s=10.0).delay(900, 0)
        pool.close_all()
        assert min(took_ms(machine)) >= 900
        quickest = wait_until(lambda: min(took_ms(machine)), 60, so=lambda ms: ms < 900)
        assert quickest < 900, "it is slow for good"
        print(f"after its switch: {quickest:.1f} ms")
        assert qdiscs(machine) == before
        await_no_switch(machine)
        assert host_at(machine.sshd).delayed() == ""
        assert host_at(machine.sshd).undelay().already

    @pytest.mark.parametrize("theirs", ["handle 1: tbf rate 100mbit burst 32k latency 50ms",
                                        "netem delay 5ms"])  # fmt: skip
    def test_a_qdisc_that_an_operator_configured_is_left_as_it_is(
        self, machine: Machine, host: Link, theirs: str
    ) -> None:
        said(machine, f"tc qdisc add dev vec0 root {theirs}")
        try:
            before = qdiscs(machine)
            kind = "tbf 1: root" if "tbf" in theirs else "netem 8"
            with pytest.raises(Unsupported, match=f"vec0 of .* an operator configured.*: {kind}"):
                delayable(Node(name="n1", address=f"{machine.sshd.address}:1", host=host._spec))
            with pytest.raises(Unsupported, match="an operator configured"):
                host.delay(50, 0)
            assert host.delayed() == ""
            assert host.undelay().already
            assert qdiscs(machine) == before
            await_no_switch(machine)
        finally:
            said(machine, "tc qdisc del dev vec0 root")

    def test_a_qdisc_of_the_kernels_own_that_would_not_come_back_is_left_as_it_is(
        self, machine: Machine, host: Link
    ) -> None:
        said(machine, "echo fq_codel > /proc/sys/net/core/default_qdisc")
        try:
            with pytest.raises(Unsupported, match="pfifo_fast 0: root"):
                host.delay(50, 0)
        finally:
            said(machine, "echo pfifo_fast > /proc/sys/net/core/default_qdisc")

    def test_a_machine_without_the_tools_says_what_is_missing(
        self, machine: Machine, host: Link
    ) -> None:
        said(machine, "mount --bind /dev/null /sbin/tc")
        try:
            assert host.why_no_delay().endswith(
                "has no tc (Debian: iproute2, libc-bin, util-linux)"
            )
            assert host.delayed() == ""
        finally:
            said(machine, "umount /sbin/tc")


@pytest.mark.skipif(
    not netem.why_not_here(), reason="NOT TESTED: a kernel without netem: it has netem"
)
def test_a_machine_whose_kernel_has_no_netem_says_so_before_anything_is_touched(
    places: Places, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        host = host_at(sshd_in(places["n1"], tmp_path / "sshd", stack))
        assert "the kernel of " in host.why_no_delay()
        assert "has no netem (`tc qdisc … netem`: " in host.why_no_delay()
        with pytest.raises(Unsupported, match=r"node `n1`: the kernel of .* has no netem"):
            host.delay(50, 0)
        assert host.delayed() == ""
        assert host.undelay().already
