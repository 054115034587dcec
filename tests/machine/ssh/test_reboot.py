"""Waiting for the next boot of a machine.

The machine that runs the tests cannot be restarted. Here its sshd goes away and comes back, and
the file that stands for the kernel's boot id changes when the test says so.
"""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from tests.sshd import Sshd

from brownout.base.errors import HostError
from brownout.inventory.model import Node
from brownout.machine.ssh import SshHost

NodeAt = Callable[..., Node]


class Machine:
    """A sshd that obeys a reboot command: away for a while, then in another boot, or not."""

    def __init__(self, sshd: Sshd, directory: Path) -> None:
        self.sshd = sshd
        self.boot_id, self.order = directory / "boot_id", directory / "order"
        self.boot_id.write_text("boot-1\n")
        self.next_boot = "boot-2"
        self.thread = threading.Thread(target=self._obey)
        self.went_down = 0.0

    def _obey(self) -> None:
        deadline = time.monotonic() + 30
        while not self.order.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.sshd.stop()
        self.went_down = time.monotonic()
        self.boot_id.write_text(f"{self.next_boot}\n")
        time.sleep(0.3)  # that long it is away
        self.sshd.start()


@pytest.fixture
def machine(sshd: Sshd, tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(sshd, tmp_path)
    machine.thread.start()
    yield machine
    machine.order.touch()
    machine.thread.join()


def _host(machine: Machine, node_at: NodeAt, **settings: object) -> SshHost:
    command = f"touch {machine.order}"
    node = node_at(**{"reboot_command": command, "reboot_timeout_s": 30.0, **settings})
    return SshHost(node, PurePosixPath(machine.boot_id))


def test_a_reboot_is_done_when_the_machine_answers_in_another_boot(
    machine: Machine, node_at: NodeAt
) -> None:
    asked = time.monotonic()

    proof = _host(machine, node_at).reboot()

    assert (proof.evidence["boot_id_before"], proof.evidence["boot_id"]) == ("boot-1", "boot-2")
    assert asked <= proof.effective_monotonic - proof.uncertainty_s <= machine.went_down
    assert proof.effective_monotonic <= time.monotonic()
    assert not proof.skipped


def test_a_machine_that_comes_back_in_its_old_boot_has_not_rebooted(
    machine: Machine, node_at: NodeAt
) -> None:
    machine.next_boot = "boot-1"

    with pytest.raises(HostError, match=r"did not come back .* is still in the boot boot-1"):
        _host(machine, node_at, reboot_timeout_s=1.5).reboot()


def test_a_machine_that_obeys_only_later_is_waited_for(machine: Machine, node_at: NodeAt) -> None:
    command = f"(sleep 1; touch {machine.order}) >/dev/null 2>&1 &"

    proof = _host(machine, node_at, reboot_command=command).reboot()

    assert proof.evidence["boot_id"] == "boot-2"
    assert proof.evidence["back_after_s"] > 1.0


def test_a_reboot_command_that_fails_is_an_error_at_once(machine: Machine, node_at: NodeAt) -> None:
    command = "echo access denied >&2; exit 1"

    with pytest.raises(HostError, match=r"failed on .*: access denied"):
        _host(machine, node_at, reboot_command=command).reboot()


def test_the_kernels_own_boot_id_is_read_by_default(node_at: NodeAt) -> None:
    host = SshHost(node_at(reboot_command="exit 3"))

    with pytest.raises(HostError, match=r"`exit 3` failed on .* \(status 3\)"):
        host.reboot()
