"""A node whose disk is slow: its calls that wait for the disk are held by a tracer (`tracer`)."""

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof
from brownout.machine.tracer import Tracer

__all__ = ["CALLS", "SCRIPTS", "TRACER", "check_size", "how", "in_ms", "left_on", "slow", "undo_on"]

_FLUSHES = ("fsync", "fdatasync", "sync_file_range", "syncfs", "sync", "msync")
#: The calls that are delayed, by what `calls` may say. A plain `write` may be to a socket.
CALLS = {"flush": _FLUSHES, "write": (*_FLUSHES, "pwrite64", "pwritev", "pwritev2")}
_MAX_MS = 600_000

TRACER = Tracer(
    "disk_slow",
    "disk_fast",
    'case $1 in delay_enter=*) may_numbers "${1#delay_enter=}";; *) false;; esac',
)
SCRIPTS = TRACER.scripts


def check_size(latency_ms: float, calls: str) -> None:
    """Raise `ConfigurationError` if no call can be delayed so."""
    if not 0 <= latency_ms <= _MAX_MS:
        raise ConfigurationError(f"latency_ms: found {latency_ms:g}, wanted 0 to {_MAX_MS}")
    if calls not in CALLS:
        raise ConfigurationError(f"calls: found {calls!r}, wanted {' or '.join(CALLS)}")


def how(latency_ms: float) -> str:
    """Return how strace delays a call: `delay_enter=50000`, in µs."""
    return f"delay_enter={round(latency_ms * 1000)}"


def slow(
    node: Node, host: Host, latency_ms: float, calls: str, undo_after_s: float | None = None
) -> Proof:
    """Hold each of these calls for `latency_ms` before it is made; 0 traces and delays nothing."""
    check_size(latency_ms, calls)
    return TRACER.start(node, host, CALLS[calls], how(latency_ms), undo_after_s)


def undo_on(node: Node, host: Host) -> Proof:
    """Let the calls be as fast as the disk; safe to repeat."""
    return TRACER.end(node, host)


def left_on(node: Node, host: Host) -> str:
    """Return by how much calls are delayed, as `50 ms by strace`; empty for nothing."""
    tracer, injected = TRACER.injected(node, host)
    return f"{in_ms(injected):g} ms by strace" if tracer else ""


def in_ms(injected: str) -> float:
    """Return the delay that `how` made."""
    delay = injected.rpartition("=")[2]
    return int(delay) / 1000 if delay.isdigit() else 0.0
