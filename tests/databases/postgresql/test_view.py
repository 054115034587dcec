"""What one member says: asked over HTTP, with a store that answers it and one that does not."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from brownout.databases.postgresql.access import Access
from brownout.databases.postgresql.link import Link
from brownout.databases.postgresql.view import look
from brownout.inventory.model import Node

STATUS = {"state": "running", "role": "primary", "timeline": 1, "patroni": {"name": "n1"}}
CLUSTER = {"members": [{"name": "n1", "role": "leader", "state": "running", "timeline": 1}]}


@contextmanager
def patroni(**answers: tuple[int, Any]) -> Iterator[tuple[Node, Link]]:
    """A member whose Patroni gives these answers, by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers[self.path.removeprefix("/")]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        node = Node(name="n1", address="127.0.0.1:1", api=f"127.0.0.1:{server.server_port}")
        try:
            yield node, Link(node, Access(), 10.0)
        finally:
            server.shutdown()
            thread.join()


def test_a_member_says_its_own_state_and_the_stores() -> None:
    with patroni(patroni=(200, STATUS), cluster=(200, CLUSTER)) as (node, link):
        view = look(node, link)
    assert (view.state, view.error) == ("PRIMARY", "")
    assert [one.leads for one in view.listed] == [True]


def test_without_its_store_it_still_says_its_own() -> None:
    with patroni(patroni=(200, STATUS), cluster=(500, b"etcd is gone")) as (node, link):
        view = look(node, link)
    assert (view.state, view.listed) == ("PRIMARY", ())


def test_an_old_patroni_that_does_not_say_its_name_is_known_by_its_address() -> None:
    status = {**STATUS, "patroni": {"version": "3.0.2", "scope": "c"}}
    there = {"role": "replica", "state": "running", "timeline": 1, "host": "127.0.0.1"}
    members = [{**there, "name": "other", "port": 2}, {**there, "name": "own", "port": 1}]
    with patroni(patroni=(200, status), cluster=(200, {"members": members})) as (node, link):
        assert look(node, link).name == "own"
    with patroni(patroni=(200, status), cluster=(500, b"etcd is gone")) as (node, link):
        assert look(node, link).name == ""


@pytest.mark.parametrize("answer", [(503, STATUS), (200, b"<html>"), (200, [])])
def test_what_is_no_answer_of_patroni_is_an_error(answer: tuple[int, Any]) -> None:
    with patroni(patroni=answer) as (node, link):
        view = look(node, link)
    assert view.state == "unreachable"
    assert "Patroni at 127.0.0.1" in view.error
