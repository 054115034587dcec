"""A recorded Docker Engine API: the answers of the published API 1.47, over real processes.

It is no Docker engine. The shapes of questions and answers are those of the published Engine API
documentation, version 1.47 (Engine 27); its containers are processes of this machine without any
isolation, whose processes end with the first one; its volumes are directories that have the same
path inside and outside. What stops, freezes and is removed really does. Its clock is an hour ahead,
since an engine's clock is its own.
"""

import contextlib
import json
import os
import re
import signal
import socketserver
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.machine.docker.boxes import Box, Conflict, stamp
from tests.machine.docker.routes import ROUTES, Reply, as_json

from brownout.machine import procfs

__all__ = ["RecordedEngine"]


class RecordedEngine:
    """A server on a unix socket, or on a TLS port of loopback."""

    def __init__(self, directory: Path, tls: ssl.SSLContext | None = None) -> None:
        self.boxes: dict[str, Box] = {}
        self.volumes: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.created: list[dict[str, Any]] = []
        self.answering = True
        #: What else happens, once, when something is asked by a method.
        self.when_asked: dict[str, Callable[[], None]] = {}
        self._lock = threading.RLock()
        self._directory = directory
        self._server = self._unix() if tls is None else self._tcp(tls)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def add(self, name: str, command: Sequence[str], **settings: Any) -> Box:
        """Make a container; it is not started."""
        box = Box(name, command, **settings)
        self.boxes[box.id] = box
        for volume in box.volumes:
            self.volumes.setdefault(volume, {"Driver": "local", "Options": None})
        return box

    def find(self, name: str) -> Box | None:
        """By name, id or the beginning of an id."""
        with self._lock:
            for box in self.boxes.values():
                if name == box.name or box.id.startswith(name):
                    return box
        return None

    def start(self, box: Box) -> None:
        with self._lock:
            box.manually_stopped = False
            box.gone.clear()
            box.process = subprocess.Popen(
                list(box.command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=os.environ | box.environment,
            )
            box.started, box.paused = stamp(), False
            box.watcher = threading.Thread(target=self._watch, args=(box, box.process))
            box.watcher.start()

    def start_ready(self, box: Box, number: signal.Signals = signal.SIGTERM) -> None:
        """Start a container and wait until its process handles or ignores a signal."""
        self.start(box)
        assert box.process is not None
        while not _heeds(box.process.pid, number):
            time.sleep(0.001)

    def kill(self, box: Box, name: str) -> None:
        """As the engine does it: whoever it kills is meant to stay down."""
        if box.process is None:
            raise Conflict(f"container {box.id} is not running")
        number = getattr(signal, name if name.startswith("SIG") else f"SIG{name}")
        box.manually_stopped = True
        box.process.send_signal(number)
        if box.paused:
            box.send(signal.SIGCONT)
        if number == signal.SIGKILL:
            box.gone.wait(10)

    def pause(self, box: Box) -> None:
        if box.process is None:
            raise Conflict(f"container {box.id} is not running")
        if box.paused:
            raise Conflict(f"container {box.id} is already paused")
        # An engine freezes them all at once, and waits for it.
        while [pid for pid in box.members() if procfs.thread_states(pid) - {"T"}]:
            box.send(signal.SIGSTOP)
            time.sleep(0.001)
        box.paused = True

    def unpause(self, box: Box) -> None:
        if not box.paused or box.process is None:
            raise Conflict(f"Container {box.id} is not paused")
        box.send(signal.SIGCONT)
        box.paused = False

    def dies(self, box: Box) -> None:
        """End the container's process from inside, as a crash does."""
        assert box.process is not None
        box.process.kill()

    def stop(self) -> None:
        for box in list(self.boxes.values()):
            box.manually_stopped = True
            if box.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    box.process.kill()
            if box.watcher is not None:
                box.watcher.join()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _watch(self, box: Box, process: subprocess.Popen[bytes]) -> None:
        first = threading.Thread(target=self._end_with, args=(box, process))
        first.start()
        out, err = process.communicate()
        first.join()
        with self._lock:
            box.out, box.err = out, err
            code = process.returncode
            box.exit_code = code if code >= 0 else 128 - code
            box.finished, box.process, box.paused = stamp(), None, False
            box.gone.set()
            again = box.policy in ("always", "unless-stopped") and not box.manually_stopped
            if again:
                box.restarts += 1
                self.start(box)

    def _end_with(self, box: Box, first: subprocess.Popen[bytes]) -> None:
        """Kill the rest of a container once its first process has ended, as the kernel does."""
        first.wait()
        while box.members():
            box.send(signal.SIGKILL)
            time.sleep(0.001)

    def _unix(self) -> socketserver.BaseServer:
        self.address = f"unix://{self._directory / 'docker.sock'}"

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

            def get_request(self) -> Any:
                request, _ = super().get_request()
                return request, ("unix", 0)

        return Server(str(self._directory / "docker.sock"), self._handler())

    def _tcp(self, tls: ssl.SSLContext) -> socketserver.BaseServer:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        self.address = f"tcp://127.0.0.1:{server.server_address[1]}"
        return server

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null") if length else None
                if not engine.answering:
                    self.close_connection = True
                    return
                status, content, kind, more = engine.answer(self.command, self.path, body)
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                if status not in (204, 304):
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if status not in (204, 304):
                    self.wfile.write(content)

            do_GET = do_POST = do_DELETE = _serve

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def answer(self, method: str, target: str, body: Any) -> Reply:
        """Return status, content, its type and further headers."""
        url = urlsplit(target)
        path = re.sub(r"^/v1\.\d+", "", url.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.asked.append(f"{method} {path}")
        self.when_asked.pop(method, lambda: None)()
        for wanted, pattern, do in ROUTES:
            match = re.fullmatch(pattern, path)
            if wanted == method and match:
                try:
                    return do(self, query, body, **match.groupdict())
                except Conflict as error:
                    return as_json(409, {"message": str(error)})
        return as_json(404, {"message": f"page not found: {method} {path}"})


def _heeds(pid: int, number: signal.Signals) -> bool:
    masks = re.findall(r"^Sig(?:Cgt|Ign):\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
