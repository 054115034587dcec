"""The network that a node sees, and the network namespaces of this machine."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from brownout.machine.capabilities import CAP_NET_ADMIN, CAP_SYS_ADMIN, may
from brownout.machine.commands import LocalRunner, Runner

__all__ = ["NAMESPACES", "Network", "WayIn", "enter", "is_ours", "runner_in", "why_not"]

#: Where `ip` keeps the namespaces that have a name.
NAMESPACES = Path("/run/netns")


@dataclass(frozen=True, slots=True)
class WayIn:
    """How brownout comes to a node's machine: its own address there, and the port that it uses."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Network:
    """The network that a node sees: where the scripts run that change it.

    `undo_after_s` is the limit of a switch where none is given. The `interface` is the one that
    has the node's `address`, if none is named. `way_in` asks how brownout comes to that network,
    which no fault may cut; None where it does not need it. Unless it `is_ready`, the first script
    has something put there, so nothing is only looked at; `leave` takes that away, once the
    network is as it was.
    """

    node: str
    runner: Runner
    undo_after_s: float
    address: str = ""
    interface: str = ""
    way_in: Callable[[], WayIn] | None = None
    is_ready: Callable[[], bool] = lambda: True
    leave: Callable[[], None] = lambda: None


def why_not() -> str:
    """Return why this machine cannot change a node's network for us; empty if it can."""
    missing = [tool for tool in ("ip", "nft", "nsenter", "setsid") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on PATH (Debian: iproute2, nftables, util-linux)"
    if not may(CAP_NET_ADMIN, CAP_SYS_ADMIN):
        return "network namespaces want root, or CAP_NET_ADMIN and CAP_SYS_ADMIN"
    return ""


def is_ours(pid: int | None) -> bool:
    """Return whether a process of this machine is in the network that we are in.

    True where that cannot be told, so that it is not touched.
    """
    try:
        theirs = Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return True
    return theirs == Path("/proc/self/ns/net").stat().st_ino


def enter(namespace: str) -> tuple[str, ...]:
    """Return what goes before a command that is to run in `namespace`; nothing for none."""
    return ("nsenter", f"--net={NAMESPACES / namespace}", "--") if namespace else ()


def runner_in(namespace: str) -> LocalRunner:
    """Return what runs scripts of this machine in `namespace`."""
    return LocalRunner(enter(namespace), f"network namespace {namespace}")
