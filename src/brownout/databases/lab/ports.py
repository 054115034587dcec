"""Choosing ports for members that are going to be killed and must get their port back."""

import random
import socket
from pathlib import Path

from brownout.base.errors import ClusterError

__all__ = ["free_ports"]

_LOW, _HIGH = 20_000, 60_000


def free_ports(count: int) -> list[int]:
    """Return `count` ports of 127.0.0.1 that nobody listens on.

    They lie below those that the kernel gives to outgoing connections: while a member is down, a
    client that dials its port over and over could otherwise be given that very port as its own.
    """
    below = _first_outgoing()
    high = below if below - _LOW > 1000 else _HIGH
    candidates = random.sample(range(_LOW, high), min(1000, high - _LOW))
    found: list[int] = []
    for port in candidates:
        if len(found) == count:
            return found
        if _is_free(port):
            found.append(port)
    raise ClusterError(f"found only {len(found)} free ports of {count} from {_LOW} to {high}")


def _first_outgoing() -> int:
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
        return int(text.split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGH


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
