"""Connections to one node that are kept between questions, and what goes wrong on them."""

import ssl
from collections.abc import Callable, Iterator

import pytest
from tests.databases.script_server import Script, ScriptServer

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.connections import HttpApi

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Serve = Callable[..., ScriptServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that play scripts."""
    servers: list[ScriptServer] = []

    def start(*scripts: Script) -> ScriptServer:
        servers.append(ScriptServer(*scripts))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def api(server: ScriptServer, keep: bool = True) -> HttpApi:
    return HttpApi("node `n1`", server.address, None, keep)


def test_a_kept_connection_that_was_closed_is_replaced_once(serve: Serve) -> None:
    server = serve([ANSWER, ANSWER, None], [ANSWER])
    kept = api(server)
    for _ in range(3):  # twice over one connection, then over a new one
        assert kept.exchange("GET", "/", 30.0) == (200, b"{}")
    assert len(server.requests) == 3
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
    assert len(server.requests) == 2
    kept.exchange("GET", "/", 30.0)  # the connection without an answer is not used again
    kept.close()


def test_nothing_is_kept_unless_it_is_to_be(serve: Serve) -> None:
    server = serve([ANSWER, None], [ANSWER, None])
    each = api(server, keep=False)
    for _ in range(2):
        each.exchange("GET", "/", 30.0)
    assert len(server.requests) == 2


def test_a_failure_of_tls_names_the_setting(serve: Serve) -> None:
    server = serve([b"no TLS here\r\n"])
    with pytest.raises(ClusterError, match=r"see `connection\.tls`"):
        HttpApi("node `n1`", server.address, ssl.create_default_context()).exchange(
            "GET", "/", 30.0
        )
