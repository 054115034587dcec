"""The network namespace that a node of this machine may have to itself; a lab makes it."""

import shutil
from pathlib import Path

from brownout.machine.capabilities import CAP_NET_ADMIN, CAP_SYS_ADMIN, may
from brownout.machine.commands import LocalRunner

__all__ = ["NAMESPACES", "enter", "runner_in", "why_not"]

#: Where `ip` keeps the namespaces that have a name.
NAMESPACES = Path("/run/netns")


def why_not() -> str:
    """Return why this machine cannot cut a node off for us; empty if it can."""
    missing = [tool for tool in ("ip", "nft", "nsenter", "setsid") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on PATH (Debian: iproute2, nftables, util-linux)"
    if not may(CAP_NET_ADMIN, CAP_SYS_ADMIN):
        return "network namespaces want root, or CAP_NET_ADMIN and CAP_SYS_ADMIN"
    return ""


def enter(namespace: str) -> tuple[str, ...]:
    """Return what goes before a command that is to run in `namespace`; nothing for none."""
    return ("nsenter", f"--net={NAMESPACES / namespace}", "--") if namespace else ()


def runner_in(namespace: str) -> LocalRunner:
    """Return what runs scripts of this machine in `namespace`."""
    return LocalRunner(enter(namespace), f"network namespace {namespace}")
