"""What a node's answers are taken for, by a server that sends what a test says."""

import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.couchbase.access import Access
from brownout.databases.couchbase.link import Link
from brownout.inventory.model import Node

Serve = Callable[..., Link]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that gives one answer to everything; return a link to it."""
    servers: list[ThreadingHTTPServer] = []
    silent = threading.Event()

    def start(
        status: int, body: str, timeout_s: float = 30.0, asked: list[str] | None = None
    ) -> Link:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if asked is not None:
                    asked.extend((self.path, str(self.headers["Authorization"])))
                if not status:
                    silent.wait(60)
                    return
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        node = Node(name="n1", address="127.0.0.1:11210", api=f"127.0.0.1:{server.server_port}")
        return Link(node, Access(username="me", password="s3cr3t", bucket="a bucket"), timeout_s)

    yield start
    silent.set()
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_node_is_asked_for_what_it_runs_and_for_the_bucket(serve: Serve) -> None:
    asked: list[str] = []
    link = serve(200, '{"implementationVersion": "7.6.2", "rev": 3}', asked=asked)
    assert link.implementation() == "7.6.2"
    assert link.bucket()["rev"] == 3
    login = f"Basic {b64encode(b'me:s3cr3t').decode()}"
    assert asked == ["/pools", login, "/pools/default/buckets/a%20bucket", login]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, "", r"the login is refused \(401\); see `connection\.auth`"),
        (403, "", r"the login is refused \(403\)"),
        (404, "", "there is no bucket `a bucket`"),
        (200, "hello", "does not speak Couchbase's REST API: 200 'hello'"),
        (200, "[]", "does not speak Couchbase's REST API"),
        (500, "{}", "does not speak Couchbase's REST API: 500"),
    ],
)
def test_what_is_wrong_is_said(status: int, body: str, words: str, serve: Serve) -> None:
    with pytest.raises(ClusterError, match=words) as refused:
        serve(status, body).bucket()
    assert "s3cr3t" not in str(refused.value)


def test_silence_is_no_answer_and_a_closed_port_is_one(serve: Serve) -> None:
    with pytest.raises(NoAnswer, match="n1"):
        serve(0, "", timeout_s=0.2).bucket()
    node = Node(name="n1", address="127.0.0.1:11210", api="127.0.0.1:1")
    with pytest.raises(ClusterError, match="refused"):
        Link(node, Access(bucket="b"), 5.0).bucket()
