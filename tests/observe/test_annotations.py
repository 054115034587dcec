"""Annotations in Grafana, by its documented HTTP API: a real Grafana could not be had here."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run

from brownout.inventory.observation import Grafana
from brownout.measure.document import read_impact
from brownout.observe.annotations import Annotator, annotations_of
from brownout.observe.grafana import GrafanaBoard
from brownout.observe.labels import labels_of
from brownout.observe.state import RunState
from brownout.run.directory import RunDirectory
from brownout.show.live.files import RunFiles

BEGAN = 1_800_000_000.0


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> RunState:
    path = build_run(tmp_path_factory.mktemp("run"), RunScript(duration_s=48))
    files = RunFiles(path)
    impact = read_impact(RunDirectory.open(path))
    return RunState(files.record(), events=files.events(), started_at=BEGAN, impact=impact)


class FakeGrafana:
    """The two calls of the annotations API, as its documents describe them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str, dict[str, Any]]] = []
        self.answers = 200
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                login = self.headers["Authorization"]
                fake.asked.append((self.command, self.path, login, body))
                answer = json.dumps({"message": "said", "id": len(fake.asked)}).encode()
                self.send_response(fake.answers)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_PUT = do_POST

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/grafana"


@pytest.fixture
def grafana(tmp_path: Path) -> Iterator[FakeGrafana]:
    fake = FakeGrafana()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()


def _board(url: str, tmp_path: Path) -> GrafanaBoard:
    (tmp_path / "token").write_text("glsa_secret")
    spec = {"url": url, "token": {"file": "token"}, "timeout_s": 1}
    return GrafanaBoard(Grafana.model_validate(spec, context={"base": str(tmp_path)}))


def test_every_event_has_its_start_end_node_and_evidence(
    state: RunState, grafana: FakeGrafana, tmp_path: Path
) -> None:
    wanted = annotations_of(state, labels_of(state.record))
    Annotator(_board(grafana.url, tmp_path), lambda: wanted).end(30)
    assert len(grafana.asked) == len(wanted) > 5
    command, path, login, body = next(a for a in grafana.asked if "kill_node" in a[3]["tags"])
    assert (command, path) == ("POST", "/grafana/api/annotations")
    assert login == "Bearer glsa_secret"
    fault = next(e for e in state.events if e.type == "break")
    assert body["time"] == round(1000 * (BEGAN + (fault.effective or 0)))
    assert body["timeEnd"] > body["time"]
    assert f"node:{fault.node}" in body["tags"]
    assert json.dumps(next(iter(fault.evidence.values()))) in body["text"]
    assert any("verdict" in a[3]["tags"] for a in grafana.asked)


def test_what_goes_on_is_written_again_once_it_has_ended(
    state: RunState, grafana: FakeGrafana, tmp_path: Path
) -> None:
    labels = labels_of(state.record)
    before = RunState(state.record, events=[e for e in state.events if e.type == "break"],
                      started_at=BEGAN)  # fmt: skip
    told = [annotations_of(before, labels)]
    annotator = Annotator(_board(grafana.url, tmp_path), lambda: told[-1])
    while not grafana.asked:
        time.sleep(0.02)
    assert grafana.asked[0][3]["timeEnd"] is None
    told.append(annotations_of(state, labels))
    annotator.end(30)
    changed = [a for a in grafana.asked if a[0] == "PUT"]
    assert changed[0][1] == "/grafana/api/annotations/1"
    assert changed[0][3]["timeEnd"] is not None


@pytest.mark.parametrize("broken", ["refuses", "is gone"])
def test_a_broken_grafana_is_said_and_stops_nothing(
    broken: str,
    state: RunState,
    grafana: FakeGrafana,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wanted = annotations_of(state, labels_of(state.record))
    url = grafana.url
    grafana.answers = 503
    if broken == "is gone":
        url = "http://127.0.0.1:1"
    with caplog.at_level(logging.WARNING, logger="chaostoolkit"):
        Annotator(_board(url, tmp_path), lambda: wanted).end(30)
    assert "the run continues" in caplog.text
    assert f"{len(wanted)} annotations are not in Grafana" in caplog.text
    assert "glsa_secret" not in caplog.text
