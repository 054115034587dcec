"""Starting a node's process, and seeing that it did not end at once."""

import socket
import time

from brownout.base.errors import HostError
from brownout.inventory.model import ProcessSpec
from brownout.machine import children, network
from brownout.machine.host import Proof
from brownout.machine.recorded import describe, recorded_process

__all__ = ["last_words", "launch", "start_command"]

#: A process that neither ended nor listens after this long is taken as started.
_GRACE_S = 1.0
_POLL_S = 0.02


def launch(node: str, address: str, spec: ProcessSpec) -> Proof:
    """Start `node` as its command says; return once it listens, or has lived for a while.

    Whether the database in it is ready is not asked here. Raises `HostError` with the end of the
    node's log if the process ends with an error.
    """
    before = time.monotonic()
    pid = children.spawn(start_command(spec), spec.pid_file, spec.log_file, spec.working_directory)
    started = time.monotonic()
    listening = _await(node, pid, address, spec)
    identity = recorded_process(node, spec)
    if identity is None:
        raise _did_not_start(node, spec, "ended at once")
    return Proof(
        started, started - before, describe(identity, state="running", listening=listening)
    )


def start_command(spec: ProcessSpec) -> tuple[str, ...]:
    """Return the command that starts the process, in the network namespace that is its own."""
    return (*network.enter(spec.network_namespace), *spec.command)


def _await(node: str, pid: int, address: str, spec: ProcessSpec) -> bool:
    """Wait until the process listens or has lived for a while; return whether it listens.

    An exit with 0 is that of a command which leaves a daemon behind.
    """
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:
        status = children.exit_status(pid)
        if status:
            raise _did_not_start(node, spec, f"ended at once with status {status}")
        if _listens(spec.proxy.upstream if spec.proxy else address):
            return True
        time.sleep(_POLL_S)
    return False


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=0.2):
            return True
    except OSError:
        return False


def _did_not_start(node: str, spec: ProcessSpec, how: str) -> HostError:
    return HostError(f"node `{node}` did not start: it {how}{last_words(spec)}")


def last_words(spec: ProcessSpec) -> str:
    """Return the end of the node's log as the end of a sentence; nothing if it has none."""
    if spec.log_file is None:
        return ""
    try:
        lines = spec.log_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "; its log ends: " + " | ".join(line[:300] for line in lines[-2:])
