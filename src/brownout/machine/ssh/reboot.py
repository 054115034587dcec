"""Restarting a node's machine: done when it answers with another boot id, and not before."""

import time
from dataclasses import dataclass
from pathlib import PurePosixPath

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.machine.commands import Runner, answer, script
from brownout.machine.host import Proof
from brownout.machine.ssh.connection import Connection
from brownout.machine.ssh.failures import Unreachable

__all__ = ["BOOT_ID", "SCRIPTS", "Boot", "boot_of", "reboot"]

#: The kernel makes a new one at each boot.
BOOT_ID = PurePosixPath("/proc/sys/kernel/random/boot_id")
_POLL_S = 0.5

_ASK = """
echo "boot $(cat -- "$1")" || return 1
read -r uptime rest < /proc/uptime
echo "uptime $uptime"
"""

#: `$1` file of the boot id, `$2` the boot to end, `$3` command. Running it twice cannot end the
#: next boot too.
_REBOOT = """
[ "$(cat -- "$1")" = "$2" ] || return 0
/bin/sh -c "$3" </dev/null
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"boot": _ASK, "reboot": _REBOOT}


@dataclass(frozen=True, slots=True)
class Boot:
    """Which boot a machine is in; times are `time.monotonic()`.

    `began_by` is when it began at the latest.
    """

    id: str
    asked: float
    answered: float
    began_by: float


def boot_of(runner: Runner, file: PurePosixPath = BOOT_ID) -> Boot:
    """Ask a machine which boot it is in."""
    done = runner.run(script(_ASK, file))
    reply = answer(done, "reading the boot id", runner.where)
    if not reply.get("boot"):
        raise HostError(f"{runner.where} does not say its boot id (`{file}`)")
    began_by = done.received - float(reply.get("uptime", "0"))
    return Boot(reply.get("boot"), done.sent, done.received, began_by)


def reboot(
    runner: Runner,
    connection: Connection,
    command: str,
    timeout_s: float,
    file: PurePosixPath = BOOT_ID,
) -> Proof:
    """Restart the runner's machine by `command` and wait for its next boot.

    Effective when the machine went down: known at the latest when the connection broke or the
    next boot began. Raises `HostError` if it is still in the old boot, or away, after `timeout_s`.
    """
    old = boot_of(runner, file)
    sent = time.monotonic()
    _order(runner, old, command, file)
    new, last_up = _await_next(runner, old, sent, timeout_s, file)
    signs = [new.answered, new.began_by, connection.lost_at or 0.0]
    down = min(sign for sign in signs if sign > last_up)
    evidence = {
        "boot_id_before": old.id,
        "boot_id": new.id,
        "back_after_s": round(new.answered - sent, 3),
    }
    return Proof(down, down - last_up, evidence)


def _order(runner: Runner, old: Boot, command: str, file: PurePosixPath) -> None:
    """Give the order; a machine that obeys at once breaks the connection before it answers."""
    try:
        done = runner.run(script(_REBOOT, file, old.id, command))
    except Unreachable:
        return
    answer(done, f"`{command}`", runner.where)


def _await_next(
    runner: Runner, old: Boot, sent: float, timeout_s: float, file: PurePosixPath
) -> tuple[Boot, float]:
    """Return the next boot and when the machine was last seen in the old one."""
    last_up = sent

    def ask() -> Boot:
        nonlocal last_up
        boot = boot_of(runner, file)
        if boot.id == old.id:
            last_up = boot.asked
            raise Unreachable(f"{runner.where} is still in the boot {old.id}")
        return boot

    try:
        return wait_until(ask, timeout_s, _POLL_S, despite=Unreachable), last_up
    except Unreachable as error:
        raise HostError(
            f"{runner.where} did not come back from its reboot within {timeout_s:g} s: "
            f"{error.message}",
            "look at its console; raise `reboot_timeout_s` if it only needs longer",
        ) from error
