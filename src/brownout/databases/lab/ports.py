"""Ports for members of labs that are going to be killed and must get their port back.

    $XDG_STATE_HOME/brownout/ports.json   the directories of this user that have ports reserved
    <directory>/ports.json                the ports reserved for one of them while it is there

A port without a listener may belong to a member that is down. Every process that chooses ports
holds the lock `ports.lock` meanwhile, wherever its labs are.
"""

import json
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError
from brownout.base.files import SHARED, private_directory, replace_file, user_state
from brownout.base.locks import Held, Lock

__all__ = ["free_ports", "reserve_ports"]

_LOW, _HIGH = 20_000, 60_000
_FILE = "ports.json"
_LOCK_TIMEOUT_S = 60.0


def reserve_ports(count: int, owner: Path, *, in_a_row: bool = False) -> list[int]:
    """Return `count` ports of 127.0.0.1 that no other owner gets while `owner` exists.

    `owner` is a directory that exists, as a lab's; without it the ports are free again.
    """
    with _owners() as owners:
        taken = {port for each in owners for port in _ports_of(each)}
        ports = _choose(count, taken, in_a_row)
        own = json.dumps(sorted([*_ports_of(owner), *ports]))
        replace_file(owner / _FILE, own, SHARED)
        owners.add(owner.absolute())
    return ports


def free_ports(count: int) -> list[int]:
    """Return `count` ports of 127.0.0.1 that can be reserved at this moment; reserves none."""
    taken = {port for each in _recorded() for port in _ports_of(each)}
    return _choose(count, taken, in_a_row=False)


def _choose(count: int, taken: set[int], in_a_row: bool) -> list[int]:
    ports: list[int] = []
    for first in _candidates():
        together = range(first, first + count) if in_a_row else [first]
        if all(port not in taken and _is_free(port) for port in together):
            ports += together
            taken.update(together)
        if len(ports) >= count:
            return ports
    raise ClusterError(f"found only {len(ports)} free ports of {count}")


def _candidates() -> list[int]:
    """Return ports below those that the kernel gives to outgoing connections, in any order.

    While a member is down, a client that dials its port over and over could otherwise be given
    that very port as its own.
    """
    below = _first_outgoing()
    high = below if below - _LOW > 1000 else _HIGH
    return random.sample(range(_LOW, high), high - _LOW)


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


@contextmanager
def _owners() -> Iterator[set[Path]]:
    """Yield the directories that have ports, to be added to, under the lock."""
    place = user_state()
    try:
        private_directory(place)
        lock = Lock(place / "ports.lock").take(_LOCK_TIMEOUT_S)
    except Held as error:
        raise ClusterError(
            f"{place / 'ports.lock'} has been locked for {_LOCK_TIMEOUT_S:g} s by {error.holder}",
            "let it end or stop it",
        ) from error
    except OSError as error:
        raise ClusterError(
            f"ports cannot be reserved in {place}: {error.strerror or error}",
            "set XDG_STATE_HOME to a directory that can be written",
        ) from error
    with lock:
        owners = {owner for owner in _recorded() if (owner / _FILE).is_file()}
        yield owners
        replace_file(place / _FILE, json.dumps(sorted(map(str, owners)), indent=2) + "\n")


def _recorded() -> list[Path]:
    return [Path(owner) for owner in _read(user_state() / _FILE)]


def _ports_of(owner: Path) -> list[int]:
    return _read(owner / _FILE)


def _read(path: Path) -> list[Any]:
    """Return the list in a file that is written in one step; empty where there is none."""
    try:
        return list(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return []
