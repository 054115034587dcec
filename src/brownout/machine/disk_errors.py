"""A node whose disk fails: calls that wait for the disk end with EIO, by a tracer (`tracer`)."""

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Node
from brownout.machine.disk_slow import CALLS
from brownout.machine.host import Host, Proof
from brownout.machine.tracer import Tracer

__all__ = ["CALLS", "SCRIPTS", "TRACER", "check_size", "fail", "how", "left_on", "undo_on"]

TRACER = Tracer(
    "disk_errors",
    "disk_mended",
    "case $1 in error=EIO:when=*+*) set -- ${1#error=EIO:when=}; "
    'may_numbers "${1%%+*}" "${1#*+}";; *) false;; esac',
)
SCRIPTS = TRACER.scripts


def check_size(percent: float, first: int, calls: str) -> None:
    """Raise `ConfigurationError` if no such share of calls can fail."""
    if not 1 <= percent <= 100:
        raise ConfigurationError(f"percent: found {percent:g}, wanted 1 to 100")
    if not 1 <= first <= 65_535:
        raise ConfigurationError(f"first: found {first}, wanted 1 to 65535")
    if calls not in CALLS:
        raise ConfigurationError(f"calls: found {calls!r}, wanted {' or '.join(CALLS)}")


def how(percent: float, first: int) -> str:
    """Return how strace fails calls, `error=EIO:when=1+2` for every second one from the first on.

    Each thread counts its own calls.
    """
    return f"error=EIO:when={first}+{round(100 / percent)}"


def fail(
    node: Node, host: Host, percent: float, first: int, calls: str,
    undo_after_s: float | None = None,
) -> Proof:  # fmt: skip
    """Have `percent` of these calls fail, of each thread from its `first` one on."""
    check_size(percent, first, calls)
    return TRACER.start(node, host, CALLS[calls], how(percent, first), undo_after_s)


def undo_on(node: Node, host: Host) -> Proof:
    """Let the calls succeed; safe to repeat.

    A call that was being failed when strace ended returns ENOSYS instead of EIO, of each thread
    one at most: strace replaces the call by an invalid one, and the answer when it returns.
    """
    return TRACER.end(node, host)


def left_on(node: Node, host: Host) -> str:
    """Return which calls fail, as `EIO by strace, 1+2`; empty for none."""
    tracer, injected = TRACER.injected(node, host)
    return f"EIO by strace, {injected.rpartition('=')[2]}" if tracer else ""
