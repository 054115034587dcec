"""Game days in files, and a real web server that hears what people are told."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.chaos_runner import LOAD

#: A load that a busy machine carries, and a baseline for tests of what happens.
GENTLY = {"baseline_s": 3, "load": LOAD}

Write = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with its own runs and state."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    for variable in ("BROWNOUT_CLUSTER", "BROWNOUT_CLUSTERS", "BROWNOUT_GAMEDAYS"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def write(home: Path) -> Write:
    """Write a game day of the lab into a file; settings are added to the least there is."""

    def to_file(name: str = "day", **settings: Any) -> Path:
        path = home / f"{name}.yaml"
        data = {"cluster": "lab-mongodb", "experiments": ["stepdown"], **settings}
        path.write_text(yaml.safe_dump(data))
        return path

    return to_file


class Hook:
    """A web server on loopback that keeps every message; it answers with `status`."""

    def __init__(self) -> None:
        self.status = 200
        self.heard: list[dict[str, Any]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.heard.append(json.loads(body))
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"json://127.0.0.1:{self._server.server_port}/hook"

    @property
    def titles(self) -> list[str]:
        return [str(message["title"]) for message in self.heard]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    yield server
    server.close()
