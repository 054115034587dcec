"""The HTTP server of a run: /metrics for Prometheus, /board for `brownout watch`.

It only ever answers what a run measures: nothing can be set or stopped through it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from brownout.base.errors import ConfigurationError

__all__ = ["Server"]

_TYPES = {"/metrics": "text/plain; version=0.0.4; charset=utf-8", "/board": "application/json"}
#: How long the server waits at most for a last look at the end of a run.
LAST_LOOK_S = 20.0


class Server:
    """Answers on `listen`, host:port, from its own threads until `close`.

    Raises `ConfigurationError` where it cannot listen there.
    """

    def __init__(self, listen: str, pages: Mapping[str, Callable[[], str]]) -> None:
        self._pages = pages
        self._asked: dict[str, deque[float]] = {path: deque(maxlen=2) for path in pages}
        self._changed = threading.Condition()
        host, _, port = listen.rpartition(":")
        try:
            self._http = _Http((host.strip("[]"), int(port)), self._handler())
        except OSError as error:
            raise ConfigurationError(
                f"observe.listen: {listen}: {error.strerror}",
                "choose another port, or 0 for a free one",
            ) from error
        self.address = f"{host}:{self._http.server_address[1]}"
        serve = self._http.serve_forever
        self._thread = threading.Thread(target=serve, name="metrics", daemon=True)
        self._thread.start()

    def await_last_look(self) -> None:
        """Wait until everybody who asked regularly has asked once more, within reason.

        A Prometheus that scrapes every 5 s would otherwise hardly ever see a verdict.
        """
        now = time.monotonic()
        with self._changed:
            for asked in self._asked.values():
                self._changed.wait_for(partial(_asked_after, asked, now), patience(asked, now))

    def close(self) -> None:
        """Stop answering. Safe to repeat."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5.0)

    def _answered(self, path: str) -> None:
        with self._changed:
            self._asked[path].append(time.monotonic())
            self._changed.notify_all()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 5.0  # for a client that says nothing

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path not in server._pages:
                    self.send_error(404, "wanted /metrics or /board")
                    return
                try:
                    text = server._pages[path]().encode()
                except Exception as error:  # it must not look like a run without figures
                    self.send_error(500, f"{type(error).__name__}: {error}"[:200])
                    return
                self.send_response(200)
                self.send_header("Content-Type", _TYPES[path])
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                server._answered(path)

            def log_message(self, *_: Any) -> None:
                """Nothing: a scrape a second would fill any log."""

        return Handler


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that hangs up is its own affair."""


def _asked_after(asked: Sequence[float], moment: float) -> bool:
    return bool(asked) and asked[-1] > moment


def patience(asked: Sequence[float], now: float) -> float:
    """Return how long to wait for who asked at these moments, seconds; 0 for who is gone.

    Who asked twice is expected again after the time between; twice that is allowed.
    """
    if len(asked) < 2:
        return 0.0
    wanted = 2 * (asked[-1] - asked[-2]) + 0.5
    return min(wanted, LAST_LOOK_S) if now - asked[-1] < wanted else 0.0
