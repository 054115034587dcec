"""One PostgreSQL, asked by itself whether it accepts writes, with every wait bounded."""

import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.postgresql.access import Access
from brownout.databases.postgresql.candidate import PostgresqlCandidate
from brownout.inventory.model import Node

WAY = Access(conninfo={"user": "it's", "dbname": "d", "sslmode": "disable"})


def candidate(port: int, timeout_s: float = 10.0) -> PostgresqlCandidate:
    return PostgresqlCandidate(Node(name="n1", address=f"127.0.0.1:{port}"), WAY, timeout_s)


def test_a_server_that_refuses_connections_accepts_no_writes(tmp_path: Path) -> None:
    (port,) = reserve_ports(1, tmp_path)
    with closing(candidate(port)) as asked:
        assert asked.claim() == REFUSES


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        closing(candidate(silent.getsockname()[1], 0.1)) as asked,
        pytest.raises(NoAnswer),
    ):
        asked.claim()


def answered(text: bytes) -> Claim:
    """The claim of a server that answers the greeting with an error, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        asked = candidate(server.getsockname()[1])

        def serve() -> None:
            taken, _ = server.accept()
            with taken:
                taken.recv(1000)
                body = b"SFATAL\0VFATAL\0C57P03\0M" + text + b"\0\0"
                taken.sendall(b"E" + (len(body) + 4).to_bytes(4, "big") + body)

        other = threading.Thread(target=serve)
        other.start()
        try:
            with closing(asked):
                return asked.claim()
        finally:
            other.join()


def test_a_server_that_starts_or_stops_accepts_no_writes() -> None:
    assert answered(b"the database system is starting up") == REFUSES
    assert answered(b"the database system is shutting down") == REFUSES


def test_a_login_that_is_refused_is_an_error() -> None:
    with pytest.raises(ClusterError, match="no such role"):
        answered(b"no such role")
