"""What a node's answers are taken for, by a server that sends what a test says."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import pytest

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.access import Access
from brownout.databases.cassandra.link import CommandFailed, Link
from brownout.inventory.model import Node

READY, AUTHENTICATE, RESULT, ERROR, AUTH_SUCCESS = 0x02, 0x03, 0x08, 0x00, 0x10
QUERY = 0x07


def frame(opcode: int, body: bytes = b"") -> bytes:
    return struct.pack(">BBhBi", 0x84, 0, 0, opcode, len(body)) + body


def text(words: str) -> bytes:
    return struct.pack(">H", len(words)) + words.encode()


def failure(code: int, words: str) -> bytes:
    return frame(ERROR, struct.pack(">i", code) + text(words))


def rows(*found: object) -> bytes:
    """Return rows of one column of text, as `SELECT JSON` has them."""
    body = struct.pack(">iii", 2, 1, 1) + text("system") + text("local") + text("[json]")
    body += struct.pack(">Hi", 0x000D, len(found))
    for each in found:
        cell = json.dumps(each).encode()
        body += struct.pack(">i", len(cell)) + cell
    return frame(RESULT, body)


Serve = Callable[[dict[int, bytes]], Node]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that answers each opcode as it is told, and nothing to any other one."""
    listeners: list[socket.socket] = []

    def answer(client: socket.socket, answers: dict[int, bytes]) -> None:
        with client, suppress(OSError):
            while header := client.recv(9, socket.MSG_WAITALL):
                *_, opcode, length = struct.unpack(">BBhBi", header)
                client.recv(length, socket.MSG_WAITALL)
                client.sendall(answers.get(opcode, b""))

    def accept(listener: socket.socket, answers: dict[int, bytes]) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client, answers), daemon=True).start()

    def start(answers: dict[int, bytes]) -> Node:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=accept, args=(listener, answers), daemon=True).start()
        return Node(name="n1", address=f"127.0.0.1:{listener.getsockname()[1]}")

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def ask(node: Node, way: Access | None = None, timeout_s: float = 5.0) -> list[dict[str, object]]:
    with closing(Link(node, way or Access(), timeout_s)) as link:
        link.rows("* FROM system.local")
        return link.rows("* FROM system.local")  # by the connection that was kept


def test_rows_are_what_the_json_says(serve: Serve) -> None:
    node = serve({0x01: frame(READY), QUERY: rows({"host_id": "a"}, {"host_id": "ü"})})
    assert ask(node) == [{"host_id": "a"}, {"host_id": "ü"}]


def test_a_login_is_sent_where_it_is_wanted(serve: Serve) -> None:
    wants = {0x01: frame(AUTHENTICATE, text("Password")), QUERY: rows({"a": 1})}
    node = serve(wants | {0x0F: frame(AUTH_SUCCESS, struct.pack(">i", -1))})
    assert ask(node, Access(username="me", password="s3cr3t")) == [{"a": 1}]
    with pytest.raises(ClusterError, match=r"the inventory has none; see `connection\.auth`"):
        ask(node)
    wrong = serve(wants | {0x0F: failure(0x0100, "Provided password is incorrect")})
    with pytest.raises(ClusterError, match=r"is incorrect; see `connection\.auth`"):
        ask(wrong, Access(username="me", password="wr0ng"))


def test_an_error_is_the_nodes_own_words(serve: Serve) -> None:
    node = serve({0x01: frame(READY), QUERY: failure(0x2200, "unconfigured table")})
    with pytest.raises(CommandFailed, match="unconfigured table") as refused:
        ask(node)
    assert refused.value.unknown_table
    node = serve({0x01: frame(READY), QUERY: failure(0x2100, "User me has no SELECT")})
    with pytest.raises(CommandFailed) as refused:
        ask(node)
    assert "give the role SELECT" in refused.value.hint


def test_silence_is_no_answer_and_a_closed_port_is_one(serve: Serve) -> None:
    with pytest.raises(NoAnswer):
        ask(serve({0x01: frame(READY)}), timeout_s=0.2)
    nobody = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{nobody.getsockname()[1]}"
    nobody.close()
    with pytest.raises(ClusterError, match="refused"):
        ask(Node(name="n1", address=address))


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", frame(QUERY), frame(RESULT)])
def test_another_protocol_is_named(said: bytes, serve: Serve) -> None:
    node = serve({0x01: frame(READY), QUERY: said})
    with pytest.raises(ClusterError, match="does not speak Cassandra's protocol"):
        ask(node)
