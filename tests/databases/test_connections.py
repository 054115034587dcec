"""Connections to one node that are kept between questions, and what goes wrong on them."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator

import pytest

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.connections import HttpApi

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Script = list[bytes | None]


class Server:
    """Plays one script per connection: what it answers to each request; None closes before it."""

    def __init__(self, *scripts: Script) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._accept, args=(scripts,), daemon=True)
        self._thread.start()

    def _accept(self, scripts: tuple[Script, ...]) -> None:
        for script in scripts:
            client, _ = self._listener.accept()
            threading.Thread(target=self._play, args=(client, script), daemon=True).start()

    def _play(self, client: socket.socket, script: Script) -> None:
        with client:
            for answer in script:
                if answer is None or not client.recv(65536):
                    return
                self.requests += 1
                client.sendall(answer)
            self._over.wait(60)

    def close(self) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that play scripts."""
    servers: list[Server] = []

    def start(*scripts: Script) -> Server:
        servers.append(Server(*scripts))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def api(server: Server, keep: bool = True) -> HttpApi:
    return HttpApi("node `n1`", server.address, None, keep)


def test_a_kept_connection_that_was_closed_is_replaced_once(serve: Serve) -> None:
    server = serve([ANSWER, ANSWER, None], [ANSWER])
    kept = api(server)
    for _ in range(3):  # twice over one connection, then over a new one
        assert kept.exchange("GET", "/", 30.0) == (200, b"{}")
    assert server.requests == 3
    kept.close()


def test_a_new_connection_that_is_closed_is_an_error(serve: Serve) -> None:
    with pytest.raises(ClusterError, match="node `n1`: "):
        api(serve([None])).exchange("GET", "/", 30.0)


def test_a_question_that_timed_out_is_not_sent_again(serve: Serve) -> None:
    server = serve([ANSWER, b""], [ANSWER])
    kept = api(server)
    kept.exchange("GET", "/", 30.0)
    with pytest.raises(NoAnswer):
        kept.exchange("GET", "/", 0.2)
    assert server.requests == 2
    kept.exchange("GET", "/", 30.0)  # the connection without an answer is not used again
    kept.close()


def test_nothing_is_kept_unless_it_is_to_be(serve: Serve) -> None:
    server = serve([ANSWER, None], [ANSWER, None])
    each = api(server, keep=False)
    for _ in range(2):
        each.exchange("GET", "/", 30.0)
    assert server.requests == 2


def test_a_failure_of_tls_names_the_setting(serve: Serve) -> None:
    server = serve([b"no TLS here\r\n"])
    with pytest.raises(ClusterError, match=r"see `connection\.tls`"):
        HttpApi("node `n1`", server.address, ssl.create_default_context()).exchange(
            "GET", "/", 30.0
        )
