"""Machines of a test's own, to run brownout on: each a network namespace with a state folder.

Where the lab has a network of its own they join it by a veth pair; where its nodes listen on this
machine's loopback, each port of theirs listens on the machine's loopback as well and leads there.
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from brownout.inventory.model import Cluster, ProcessSpec

__all__ = ["Machine", "machines"]

_CLONE_NEWNET = 0x40000000
#: In the network of a lab, above the addresses of its nodes.
_FIRST = 200


@dataclass(frozen=True)
class Machine:
    """One machine: `start` runs brownout there, with a state that no other one sees."""

    namespace: str
    home: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "BROWNOUT_STATE": str(self.home / "state"),
            "BROWNOUT_RUNS": str(self.home / "runs"),
        }
        inside = ["ip", "netns", "exec", self.namespace]
        return subprocess.Popen(
            [*inside, sys.executable, "-P", "-m", "brownout", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )


@contextlib.contextmanager
def machines(cluster: Cluster, home: Path, count: int = 2) -> Iterator[list[Machine]]:
    """Have so many machines that reach every node of a lab."""
    with contextlib.ExitStack() as ends:
        yield [_machine(cluster, home / f"m{n}", n, ends) for n in range(1, count + 1)]


def _machine(cluster: Cluster, home: Path, number: int, ends: contextlib.ExitStack) -> Machine:
    home.mkdir(parents=True)
    namespace = f"brownout-test-{os.getpid()}-m{number}"
    _ip("netns", "add", namespace)
    ends.callback(_ip, "netns", "delete", namespace)
    _ip("-n", namespace, "link", "set", "lo", "up")
    host = cluster.nodes[0].host
    network = host.network_namespace if isinstance(host, ProcessSpec) else ""
    if network:
        _join(namespace, network.rpartition("-")[0] + "-hub", cluster, number)
    else:
        for port in _ports(cluster):
            listener = _in_namespace(namespace, port)
            ends.callback(listener.close)
            threading.Thread(target=_serve, args=(listener, port), daemon=True).start()
    return Machine(namespace, home)


def _join(namespace: str, hub: str, cluster: Cluster, number: int) -> None:
    """Tie a namespace to the bridge of a lab's network."""
    node = ip_address(cluster.nodes[0].address.rpartition(":")[0])
    address = f"{ip_address((int(node) & ~0xFF) + _FIRST + number)}/24"
    veth = f"test{number}"
    _ip("-n", hub, "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", namespace)
    _ip("-n", hub, "link", "set", veth, "master", "br0", "up")
    _ip("-n", namespace, "address", "add", address, "dev", "eth0")
    _ip("-n", namespace, "link", "set", "eth0", "up")


def _ports(cluster: Cluster) -> list[tuple[str, int]]:
    addresses = [node.address for node in cluster.every]
    addresses += [node.api for node in cluster.every if node.api]
    addresses += cluster.connection.hosts
    split = [address.rpartition(":") for address in addresses]
    return sorted({(host, int(port)) for host, _, port in split})


def _in_namespace(namespace: str, at: tuple[str, int]) -> socket.socket:
    """Listen in a namespace: only the thread that makes the socket goes there, and ends."""
    made: list[socket.socket] = []

    def there() -> None:
        with Path(f"/run/netns/{namespace}").open("rb") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        made.append(socket.create_server(at, backlog=128))

    thread = threading.Thread(target=there)
    thread.start()
    thread.join()
    return made[0]


def _serve(listener: socket.socket, at: tuple[str, int]) -> None:
    """Lead every connection to the same port of this machine."""
    with contextlib.suppress(OSError):
        while True:
            inner, _ = listener.accept()
            threading.Thread(target=_lead, args=(inner, at), daemon=True).start()


def _lead(inner: socket.socket, at: tuple[str, int]) -> None:
    """Carry what is said either way, until both have ended."""
    with inner, contextlib.suppress(OSError), socket.create_connection(at, 5) as outer:
        outer.settimeout(None)
        back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
        back.start()
        _pump(inner, outer)
        back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _ip(*words: str) -> None:
    _run(["ip", *words])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
