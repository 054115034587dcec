"""Nodes in network namespaces of their own, and traffic between them and from here."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import await_true

from brownout.databases.lab import network as lab_network
from brownout.databases.lab.network import Place
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import network

__all__ = ["PORT", "WHY_NOT", "Traffic", "await_no_switch", "node_at", "three_places"]
__all__ += ["waiting_switches"]

WHY_NOT = network.why_not()
PORT = 5000

#: Echoes UDP datagrams and takes TCP streams, and answers each with how many bytes came.
_SERVER = """
import socket, sys, threading
address = (sys.argv[1], int(sys.argv[2]))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
datagrams.bind(address)
listener = socket.create_server(address)
def echo():
    while True:
        data, there = datagrams.recvfrom(2048)
        try:
            datagrams.sendto(data, there)
        except OSError as error:
            print(error, file=sys.stderr)
def count(there):
    total = 0
    while data := there.recv(1 << 16):
        total += len(data)
    there.sendall(str(total).encode())
    there.close()
threading.Thread(target=echo, daemon=True).start()
print("ready", flush=True)
while True:
    threading.Thread(target=count, args=(listener.accept()[0],), daemon=True).start()
"""
#: Sends so many datagrams to an echo, and says how many of them came back.
_DATAGRAMS = """
import socket, sys, time
address, n = (sys.argv[1], int(sys.argv[2])), int(sys.argv[3])
there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
there.connect(address)
seen = set()
def take(wait_s):
    there.settimeout(wait_s)
    try:
        while True:
            seen.add(there.recv(2048))
    except (BlockingIOError, TimeoutError):
        pass
    there.settimeout(5)
for number in range(n):
    there.send(str(number).encode())
    if number % 20 == 19:
        time.sleep(0.001)
        take(0)
take(0.5)
print(len(seen))
"""
#: Sends so many bytes by TCP; says the seconds until all had come, and the segments sent again.
_STREAM = """
import socket, sys, time
def sent_again():
    lines = [l.split() for l in open("/proc/net/snmp") if l.startswith("Tcp:")]
    return int(dict(zip(*lines))["RetransSegs"])
address, size = (sys.argv[1], int(sys.argv[2])), int(sys.argv[3])
before = sent_again()
there = socket.create_connection(address, 20)
there.settimeout(50)
began = time.monotonic()
there.sendall(b"x" * size)
there.shutdown(socket.SHUT_WR)
answer = there.recv(100)
print(time.monotonic() - began, sent_again() - before)
assert int(answer) == size
"""


class Traffic:
    """A server in one place, and what is sent to it from other places."""

    def __init__(self, place: Place, port: int = PORT) -> None:
        self._place, self._port = place, port
        self.process = _inside(place, _SERVER, place.address, str(port))
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.communicate()

    def answered(self, here: Place, n: int) -> int:
        """How many of `n` datagrams sent from a place come back."""
        return int(self._sent(here, _DATAGRAMS, n))

    def stream(self, here: Place, size: int) -> tuple[float, int]:
        """The seconds that so many bytes take by TCP, and the segments that were sent again."""
        seconds, again = self._sent(here, _STREAM, size).split()
        return float(seconds), int(again)

    def _sent(self, here: Place, code: str, n: int) -> str:
        client = _inside(here, code, self._place.address, str(self._port), str(n))
        output = client.communicate(timeout=60)[0]
        assert client.returncode == 0
        return output


@contextlib.contextmanager
def three_places(directory: Path) -> Iterator[dict[str, Place]]:
    """Three namespaces on one bridge, by the names of their nodes; gone in the end."""
    try:
        yield lab_network.make(directory, ["n1", "n2", "n3"])
    finally:
        lab_network.remove(directory)


def node_at(place: Place, name: str = "n1", port: int = PORT) -> Node:
    """A node whose network is that of a place."""
    host = ProcessSpec(
        pid_file=Path("/nowhere/pid"), command=("sleep",), network_namespace=place.namespace
    )
    return Node(name=name, address=f"{place.address}:{port}", host=host)


def waiting_switches(place: Place, mark: str) -> list[str]:
    """The processes that wait to undo something in a place."""
    here = str((network.NAMESPACES / place.namespace).stat().st_ino).encode()
    switches = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if mark.encode() in words and here in words:
                    switches.append(entry.name)
    return switches


def await_no_switch(place: Place, mark: str) -> None:
    """Wait until no process waits any more to undo something in a place."""
    await_true(lambda: not waiting_switches(place, mark), "the end of its switch")


def _inside(place: Place, code: str, *words: str) -> subprocess.Popen[str]:
    command = [*network.enter(place.namespace), sys.executable, "-c", code, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
