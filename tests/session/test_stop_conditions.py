"""Stop conditions: read whole or refused whole, and each fires with its reason."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brownout.base.errors import ConfigurationError
from brownout.run.series import Series
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Table, frozen
from brownout.session.stop_conditions import StopWatch, parse_conditions


def _series(ok: int, seconds: int = 70) -> Series:
    """A load of 100/s of which `ok` are served, for `seconds`."""

    def table(columns: tuple[str, ...]) -> Table:
        counts = {name: np.zeros((seconds * 10, 1), np.int64) for name in columns}
        counts["offered"] += 10
        counts["ok"] += ok // 10
        counts["failed"] += 10 - ok // 10
        return Table((("app", "read"),), frozen(counts))

    return Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS))


@pytest.fixture
def fired(tmp_path: Path) -> Iterator[Callable[..., str | None]]:
    """Watch conditions over a series and return the reason, or None where none comes."""
    watches = []

    def watch(conditions: Any, ok: int = 100, wait_s: float = 5.0) -> str | None:
        reasons: list[str] = []
        met = threading.Event()

        def stop(reason: str) -> None:
            reasons.append(reason)
            met.set()

        found = StopWatch(
            parse_conditions(conditions), tmp_path / "abort", lambda: _series(ok), stop
        )
        watches.append(found)
        found.start()
        met.wait(wait_s)
        found.end()
        return reasons[0] if reasons else None

    yield watch
    for found in watches:
        found.end()


def test_availability_under_its_bound_for_its_time_stops(fired: Callable[..., str | None]) -> None:
    reason = fired([{"availability_below": 0.5, "for_s": 60}], ok=40)
    assert reason == "stop condition: availability 40.0 % over the last 60 s (limit 50 %)"


def test_availability_above_its_bound_does_not(fired: Callable[..., str | None]) -> None:
    assert fired([{"availability_below": 0.5, "for_s": 60}], ok=60, wait_s=1.0) is None


def test_a_load_shorter_than_the_time_does_not(fired: Callable[..., str | None]) -> None:
    assert fired([{"availability_below": 0.5, "for_s": 600}], ok=0, wait_s=1.0) is None


def test_a_file_that_appears_stops(fired: Callable[..., str | None], tmp_path: Path) -> None:
    (tmp_path / "stop-now").touch()
    assert "stop-now" in (fired([{"file": str(tmp_path / "stop-now")}]) or "")


def test_brownout_abort_stops_with_its_reason(
    fired: Callable[..., str | None], tmp_path: Path
) -> None:
    (tmp_path / "abort").write_text("the pager rang\n")
    assert fired([]) == "brownout abort: the pager rang"


def test_an_http_check_that_answers_otherwise_stops(fired: Callable[..., str | None]) -> None:
    class Sick(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(503)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Sick) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/healthy"
        reason = fired([{"http": url}])
        server.shutdown()
        thread.join()
    assert reason == f"stop condition: {url} gave 503, wanted 200"


def test_an_http_check_that_nobody_answers_stops(fired: Callable[..., str | None]) -> None:
    assert "no answer" in (fired([{"http": "http://127.0.0.1:9/"}]) or "")


def test_an_http_check_that_is_answered_by_nonsense_stops(
    fired: Callable[..., str | None],
) -> None:
    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"what?\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/?token=hunter2"
        reason = fired([{"http": url}]) or ""
        thread.join()
    assert "no answer" in reason
    assert "hunter2" not in reason


def test_conditions_may_come_as_json_text() -> None:
    (condition,) = parse_conditions('[{"file": "/run/stop"}]')
    assert condition.model_dump() == {"file": Path("/run/stop")}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('[{"file": ', "not JSON"),
        ([{"availability_below": 2}], r"abort_if\[0\]"),
        ([{"file": "/x"}, {"nonsense": 1}], r"abort_if\[1\]"),
        ([{"http": "ftp://x"}], r"abort_if\[0\]"),
        ([{"http": "http://user:word@x/"}], r"abort_if\[0\]"),
        (7, "abort_if"),
    ],
)
def test_what_is_no_condition_is_refused_before_anything_starts(given: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_conditions(given)
