"""Connections that we hold to a node: a client that takes many and does nothing, or reads slowly.

They are sockets of this very process: they end with it, however it ends, so that nothing could be
left on the node. No login is made. A server counts such a connection when it accepts it, or only
once it has a login; what it says of its own connections is asked beside ours.
"""

import resource
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.base.settings import host_and_port
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["MODES", "MOST", "close", "hold", "open_to", "problem"]

MODES = ("idle", "slow")
#: What one fault may take of the ports and files of this machine.
MOST = 5_000
#: Files that stay free for the run itself.
_FILES_LEFT = 256
_CONNECT_S = 5.0
#: A server that has too many closes a connection at once.
_CLOSES_WITHIN_S = 0.3
_ESTABLISHED = 1
#: A slow client asks this often before it reads, and reads this much a second.
_ASKED, _READ_BYTES = 32, 1024
#: Small, so that the answers wait at the server and not here.
_BUFFER_BYTES = 4096


@dataclass(slots=True)
class _Held:
    """The connections to one node, and what ends those that read slowly."""

    sockets: list[socket.socket]
    over: threading.Event = field(default_factory=threading.Event)


#: By the node's address; of this process alone.
_HELD: dict[str, _Held] = {}


def problem(connections: int, mode: str) -> str:
    """Return in words why so many cannot be held from here; empty if they can."""
    if mode not in MODES:
        return f"mode: found {mode!r}, wanted {' or '.join(MODES)}"
    if not 1 <= connections <= MOST:
        return f"connections: found {connections}, wanted 1 to {MOST}"
    return ""


def hold(
    node: Node,
    connections: int,
    request: bytes = b"",
    count: Callable[[], int | None] = lambda: None,
) -> Proof:
    """Open so many connections to `node` and keep them; `request` has each read its answers slowly.

    `count` asks the server how many it has. Proven by those that the server has not closed again,
    and by its own count where it says one. Safe to repeat: earlier ones are closed then.
    """
    mode = "slow" if request else "idle"
    if words := problem(connections, mode):
        raise ConfigurationError(words)
    _check_room(node, connections)
    close(node)
    before, asked = count(), time.monotonic()
    held = _Held(_opened(node, connections))
    _HELD[node.address] = held
    last, counted = time.monotonic(), count()
    open_now = open_to(node)
    if not open_now or (None not in (before, counted) and counted == before):
        close(node)
        raise HostError(
            f"node `{node.name}`: of {connections} connections {open_now} are open, and the server "
            f"counts {counted} after {before}"
        )
    if request:
        for each in held.sockets:
            _send(each, request * _ASKED)
        threading.Thread(target=_read_slowly, args=(held, request), daemon=True).start()
    evidence = {
        "state": "held",
        "mode": mode,
        "asked_for": connections,
        "open": open_now,
        "login": False,
        "server": {"before": before, "during": counted},
    }
    return Proof(last, last - asked, evidence)


def close(node: Node) -> Proof:
    """Close what we hold to `node`; safe to repeat."""
    held = _HELD.pop(node.address, None)
    for each in held.sockets if held is not None else ():
        each.close()
    if held is not None:
        held.over.set()
    now = time.monotonic()
    return Proof(now, 0.0, {"state": "closed"}, already=held is None)


def open_to(node: Node) -> int:
    """Return how many connections we hold to `node` that it has not closed."""
    held = _HELD.get(node.address)
    return sum(map(_is_open, held.sockets)) if held is not None else 0


def _opened(node: Node, connections: int) -> list[socket.socket]:
    """Return sockets that are connected, or were, once the server has closed what it refuses."""
    host, port = host_and_port(node.address)
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sockets = []
    try:
        for _ in range(connections):
            link = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(link)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            link.setblocking(False)
            link.connect_ex(address)
        _await(sockets, select.POLLOUT, _CONNECT_S)
        _await(sockets[:1], select.POLLIN, _CLOSES_WITHIN_S)
    except BaseException:
        for each in sockets:
            each.close()
        raise
    return sockets


def _await(sockets: list[socket.socket], event: int, within_s: float) -> None:
    """Wait until all of `sockets` have seen `event`, or an error."""
    poll, deadline = select.poll(), time.monotonic() + within_s
    waiting = {each.fileno() for each in sockets}
    for number in waiting:
        poll.register(number, event)
    while waiting and (left_s := deadline - time.monotonic()) > 0:
        for number, _ in poll.poll(left_s * 1000):
            poll.unregister(number)
            waiting.discard(number)


def _is_open(link: socket.socket) -> bool:
    try:
        info = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    except OSError:
        return False
    return info == bytes([_ESTABLISHED])


def _read_slowly(held: _Held, request: bytes) -> None:
    """Read a little of each connection once a second and ask once more, until all is over."""
    while not held.over.wait(1.0):
        for each in held.sockets:
            try:
                if each.recv(_READ_BYTES):
                    _send(each, request)
            except OSError:  # nothing to read yet, or closed
                continue


def _send(link: socket.socket, data: bytes) -> None:
    try:
        link.send(data)
    except OSError:  # its buffer is full, or it is closed: `open_to` counts it then
        return


def _check_room(node: Node, connections: int) -> None:
    """Raise `Refused` where this machine would be short of files or ports for others."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    in_use = len(list(Path("/proc/self/fd").iterdir()))
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    room = min(files - in_use - _FILES_LEFT, (last - first) // 2)
    if connections > room:
        raise Refused(
            f"node `{node.name}`: this machine has room for {max(room, 0)} connections, wanted "
            f"{connections} (open files: {in_use} of {files}; half of {last - first} ports)",
            "hold fewer, or raise `ulimit -n`",
        )
