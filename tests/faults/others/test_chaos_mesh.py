"""Chaos Mesh by a real HTTP server that answers in the API server's place."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from tests.faults.others.recorded import T0, chaos

from brownout.base.errors import BrownoutError, NoAnswer
from brownout.faults.others.chaos_mesh import ChaosMesh

Answer = tuple[int, str]


class Api:
    """Gives one answer after the other; the last one stays."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = api.answers.pop(0) if len(api.answers) > 1 else api.answers[0]
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join(10)


@pytest.fixture
def source(api: Api, tmp_path: Path) -> Iterator[ChaosMesh]:
    pytest.importorskip("kubernetes", reason="needs the extra `kubernetes`")
    server = {"name": "here", "cluster": {"server": f"http://127.0.0.1:{api.server.server_port}"}}
    user, context = {"name": "me", "user": {}}, {"cluster": "here", "user": "me"}
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "clusters": [server], "users": [user],
        "contexts": [{"name": "here", "context": context}], "current-context": "here",
    }))  # fmt: skip
    with closing(ChaosMesh("PodChaos", "stall-one", "shop", str(path))) as made:
        yield made


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_away_for_a_moment_is_no_answer(
    api: Api, source: ChaosMesh, status: int
) -> None:
    api.answers = [(status, "{}"), (200, json.dumps(chaos({"shop/db-0": T0})))]
    with pytest.raises(NoAnswer, match=f"{status}"):
        source.look()
    account = source.look()
    assert account is not None
    assert account.state == "AllInjected"


def test_a_server_that_denies_it_has_answered(api: Api, source: ChaosMesh) -> None:
    api.answers = [(403, "{}")]
    with pytest.raises(BrownoutError, match="403") as caught:
        source.look()
    assert not isinstance(caught.value, NoAnswer)
