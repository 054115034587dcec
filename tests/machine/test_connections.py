"""Connections are held to a server, which counts them, and are closed again."""

import contextlib
import fcntl
import resource
import socket
import sys
import termios
import threading
from collections.abc import Iterator

import pytest
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import connections


class Server:
    """A server that has room for some connections, and answers a line with 64 KiB."""

    def __init__(self, room: int = 1000) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._room, self.there = room, set[socket.socket]()
        threading.Thread(target=self._accept, daemon=True).start()
        self.node = Node(name="n1", address=f"127.0.0.1:{self._socket.getsockname()[1]}")

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            if len(self.there) >= self._room:
                link.close()
                continue
            self.there.add(link)
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        with link, contextlib.suppress(OSError):
            while link.recv(6):
                link.sendall(b"x" * 65536)
        self.there.discard(link)

    def count(self) -> int:
        return len(self.there)

    def unread(self) -> list[int]:
        """How many bytes of each connection the client's system has not taken yet."""
        sizes = []
        for link in list(self.there):
            answer = fcntl.ioctl(link, termios.TIOCOUTQ, bytes(4))
            sizes.append(int.from_bytes(answer, sys.byteorder))
        return sizes or [0]

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    connections.close(server.node)
    server.close()


def test_the_server_counts_them_until_they_are_closed(server: Server) -> None:
    proof = connections.hold(server.node, 50, count=server.count)
    assert (proof.evidence["open"], proof.evidence["login"]) == (50, False)
    await_true(lambda: server.count() == 50, "all connections")
    assert connections.open_to(server.node) == 50
    connections.hold(server.node, 20)
    await_true(lambda: server.count() == 20, "that the earlier ones are closed")
    assert not connections.close(server.node).already
    await_true(lambda: server.count() == 0, "that all are closed")
    assert connections.close(server.node).already


def test_a_server_that_has_room_for_fewer_is_held_by_those() -> None:
    server = Server(room=30)
    try:
        evidence = connections.hold(server.node, 50).evidence
        assert (evidence["asked_for"], evidence["open"]) == (50, 30)
    finally:
        connections.close(server.node)
        server.close()


def test_a_node_that_refuses_connections_is_not_held() -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        node = Node(name="n1", address=f"127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(HostError, match="0 are open"):
            connections.hold(node, 5)
    assert connections.open_to(node) == 0


def test_a_server_that_closes_all_is_not_held() -> None:
    server = Server(room=0)
    try:
        with pytest.raises(HostError, match="0 after 0"):
            connections.hold(server.node, 5, count=server.count)
        assert connections.open_to(server.node) == 0
    finally:
        server.close()


def test_a_slow_reader_leaves_answers_waiting_at_the_server(server: Server) -> None:
    proof = connections.hold(server.node, 3, b"INFO\r\n")
    assert proof.evidence["mode"] == "slow"
    await_true(lambda: server.count() == 3, "the connections")
    # However much fits into the server's own buffers, our small ones do not take it.
    await_true(lambda: min(server.unread()) > 1_000_000, "answers that wait at the server")
    connections.close(server.node)
    await_true(lambda: server.count() == 0, "that all are closed")


def test_one_that_the_server_closes_counts_no_more(server: Server) -> None:
    connections.hold(server.node, 5)
    await_true(lambda: server.count() == 5, "the connections")
    for link in list(server.there)[:2]:
        link.shutdown(socket.SHUT_RDWR)
    await_true(lambda: connections.open_to(server.node) == 3, "that two are closed")


def test_more_than_this_machine_has_room_for_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300, 300))
    with pytest.raises(Refused, match="room for"):
        connections.hold(server.node, 200)
    assert server.count() == 0


@pytest.mark.parametrize("number", [0, -1, 5001])
def test_a_number_beyond_the_limit_is_refused(server: Server, number: int) -> None:
    with pytest.raises(ConfigurationError, match="connections"):
        connections.hold(server.node, number)
