"""A recorded Docker Engine API: the answers of the published API 1.47, over real processes.

It is no Docker engine. The shapes of questions and answers are those of the published Engine API
documentation, version 1.47 (Engine 27); its containers are processes of this machine without any
isolation, its volumes are directories that have the same path inside and outside. What stops,
freezes and is removed really does. Its clock is an hour ahead, since an engine's clock is its own.
"""

import base64
import contextlib
import io
import json
import os
import re
import signal
import socketserver
import ssl
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from brownout.cluster import procfs

__all__ = ["API", "Box", "RecordedEngine"]

API = "1.47"
AHEAD_S = 3600.0
NEVER = "0001-01-01T00:00:00Z"


def stamp() -> str:
    """The engine's clock, with the nanoseconds that Go prints."""
    moment = datetime.fromtimestamp(time.time() + AHEAD_S, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "789Z"


@dataclass
class Box:
    """One container."""

    name: str
    command: Sequence[str]
    volumes: Mapping[str, Path] = field(default_factory=dict)
    policy: str = "no"
    config: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    mounts: list[dict[str, Any]] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid4().hex + uuid4().hex)
    image: str = "sha256:" + "5" * 64
    process: subprocess.Popen[bytes] | None = None
    watcher: threading.Thread | None = None
    started: str = NEVER
    finished: str = NEVER
    exit_code: int = 0
    paused: bool = False
    manually_stopped: bool = False
    restarts: int = 0
    out: bytes = b""
    err: bytes = b""
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        return self.process is not None

    def all_mounts(self) -> list[dict[str, Any]]:
        own = [
            {
                "Type": "volume",
                "Name": name,
                "Source": f"/var/lib/docker/volumes/{name}/_data",
                "Destination": str(path),
                "Driver": "local",
                "Mode": "z",
                "RW": True,
                "Propagation": "",
            }
            for name, path in self.volumes.items()
        ]
        return own + self.mounts


class Conflict(Exception):
    """409: the container is not in a state for that."""


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
            box.process.send_signal(signal.SIGCONT)
        if number == signal.SIGKILL:
            box.gone.wait(10)

    def pause(self, box: Box) -> None:
        if box.process is None:
            raise Conflict(f"container {box.id} is not running")
        if box.paused:
            raise Conflict(f"container {box.id} is already paused")
        os.kill(box.process.pid, signal.SIGSTOP)
        while procfs.thread_states(box.process.pid) != {"T"}:  # an engine waits for it, too
            time.sleep(0.001)
        box.paused = True

    def unpause(self, box: Box) -> None:
        if not box.paused or box.process is None:
            raise Conflict(f"Container {box.id} is not paused")
        os.kill(box.process.pid, signal.SIGCONT)
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
        out, err = process.communicate()
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

    def answer(self, method: str, target: str, body: Any) -> tuple[int, bytes, str, dict[str, str]]:
        """Return status, content, its type and further headers."""
        url = urlsplit(target)
        path = re.sub(r"^/v1\.\d+", "", url.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.asked.append(f"{method} {path}")
        self.when_asked.pop(method, lambda: None)()
        for wanted, pattern, do in _ROUTES:
            match = re.fullmatch(pattern, path)
            if wanted == method and match:
                try:
                    return do(self, query, body, **match.groupdict())
                except Conflict as error:
                    return _json(409, {"message": str(error)})
        return _json(404, {"message": f"page not found: {method} {path}"})


def _heeds(pid: int, number: signal.Signals) -> bool:
    masks = re.findall(r"^Sig(?:Cgt|Ign):\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


Reply = tuple[int, bytes, str, dict[str, str]]


def _json(status: int, data: Any) -> Reply:
    return status, json.dumps(data).encode(), "application/json", {}


def _version(engine: RecordedEngine, query: Any, body: Any) -> Reply:
    return _json(200, {
        "Platform": {"Name": "recorded API, no Docker engine"}, "Version": "27.3.1",
        "ApiVersion": API, "MinAPIVersion": "1.24", "GitCommit": "", "GoVersion": "go1.22.7",
        "Os": "linux", "Arch": "amd64", "KernelVersion": os.uname().release,
        "BuildTime": "2024-09-20T11:41:00.000000000+00:00",
    })  # fmt: skip


def _info(engine: RecordedEngine, query: Any, body: Any) -> Reply:
    running = sum(box.running for box in engine.boxes.values())
    return _json(200, {
        "ID": "7TRN:IPZB:QYBB:VPBQ:UMPP:KARE:6ZNR:XE6T:7EWV:PKF4:ZOJD:TPYS",
        "Containers": len(engine.boxes), "ContainersRunning": running, "Driver": "overlay2",
        "SystemTime": stamp(), "ServerVersion": "27.3.1", "CgroupVersion": "2",
    })  # fmt: skip


def _list(engine: RecordedEngine, query: Any, body: Any) -> Reply:
    labels = json.loads(query.get("filters") or "{}").get("label", [])
    found = []
    for box in engine.boxes.values():
        own = {f"{k}={v}" for k, v in (box.config.get("Labels") or {}).items()}
        if set(labels) <= own and (box.running or query.get("all") in ("1", "true", "True")):
            found.append({
                "Id": box.id, "Names": [f"/{box.name}"], "Image": "recorded", "ImageID": box.image,
                "Command": box.command[0], "Created": 1700000000, "Ports": [],
                "Labels": box.config.get("Labels") or {},
                "State": "running" if box.running else "exited", "Status": "",
                "HostConfig": {"NetworkMode": "default"}, "Mounts": box.all_mounts(),
            })  # fmt: skip
    return _json(200, found)


def _with_box(do: Callable[..., Reply]) -> Callable[..., Reply]:
    def wrapped(engine: RecordedEngine, query: Any, body: Any, name: str) -> Reply:
        box = engine.find(name)
        if box is None:
            return _json(404, {"message": f"No such container: {name}"})
        return do(engine, query, body, box)

    return wrapped


def _inspect(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    process, paused = box.process, box.paused
    ended = "exited" if box.started != NEVER else "created"
    status = ("paused" if paused else "running") if process else ended
    return _json(200, {
        "Id": box.id, "Created": NEVER, "Path": box.command[0], "Args": list(box.command[1:]),
        "State": {
            "Status": status, "Running": process is not None, "Paused": paused,
            "Restarting": False, "OOMKilled": False, "Dead": False,
            "Pid": process.pid if process else 0, "ExitCode": box.exit_code, "Error": "",
            "StartedAt": box.started, "FinishedAt": box.finished,
        },
        "Image": box.image, "Name": f"/{box.name}", "RestartCount": box.restarts,
        "Driver": "overlay2", "Platform": "linux",
        "HostConfig": {
            "RestartPolicy": {"Name": box.policy, "MaximumRetryCount": 0},
            "AutoRemove": False, "NetworkMode": "bridge", **box.host,
        },
        "Mounts": box.all_mounts(),
        "Config": {"Image": "recorded", "Tty": False, "Labels": {}, **box.config},
        "NetworkSettings": {"Networks": {}},
    })  # fmt: skip


def _start(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    if box.running:
        return 304, b"", "", {}
    if not Path(box.command[0]).exists():
        told = f'exec: "{box.command[0]}": stat {box.command[0]}: no such file or directory'
        return _json(400, {"message": f"failed to create task: {told}: unknown"})
    engine.start(box)
    return 204, b"", "", {}


def _kill(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    engine.kill(box, query.get("signal", "SIGKILL"))
    return 204, b"", "", {}


def _pause(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    engine.pause(box)
    return 204, b"", "", {}


def _unpause(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    engine.unpause(box)
    return 204, b"", "", {}


def _create(engine: RecordedEngine, query: Any, body: Any) -> Reply:
    engine.created.append(body)
    command = [*(body.get("Entrypoint") or []), *(body.get("Cmd") or [])]
    box = engine.add(
        query.get("name", f"quirky_{len(engine.created)}"),
        command,
        config={"Labels": body.get("Labels") or {}},
        host={"NetworkMode": body["HostConfig"].get("NetworkMode")},
    )
    box.image = body["Image"]
    return _json(201, {"Id": box.id, "Warnings": []})


def _remove(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    if box.running:
        if query.get("force") not in ("1", "true", "True"):
            raise Conflict(f"cannot remove container {box.name}: container is running")
        engine.kill(box, "SIGKILL")
    del engine.boxes[box.id]
    return 204, b"", "", {}


def _logs(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    """Both streams in frames: a byte for which of them, three zeros, the length, the text."""
    frames = b""
    for number, name, text in ((1, "stdout", box.out), (2, "stderr", box.err)):
        if query.get(name) in ("1", "true", "True") and text:
            frames += bytes([number, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
    return 200, frames, "application/vnd.docker.multiplexed-stream", {}


def _archive(engine: RecordedEngine, query: Any, body: Any, box: Box) -> Reply:
    path = Path(query["path"])
    if not path.exists():
        told = f"Could not find the file {path} in container {box.id}"
        return _json(404, {"message": told})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(path, arcname=path.name)
    seen = path.stat()
    about = {"name": path.name, "size": seen.st_size, "mode": seen.st_mode & 0o777,
             "mtime": stamp(), "linkTarget": ""}  # fmt: skip
    encoded = base64.b64encode(json.dumps(about).encode()).decode()
    return 200, packed.getvalue(), "application/x-tar", {"X-Docker-Container-Path-Stat": encoded}


def _volume(engine: RecordedEngine, query: Any, body: Any, name: str) -> Reply:
    if name not in engine.volumes:
        return _json(404, {"message": f"get {name}: no such volume"})
    where = f"/var/lib/docker/volumes/{name}/_data"
    more = {"Name": name, "Mountpoint": where, "Scope": "local", "Labels": None}
    return _json(200, {**more, **engine.volumes[name]})


_ROUTES: list[tuple[str, str, Callable[..., Reply]]] = [
    ("GET", r"/version", _version),
    ("GET", r"/info", _info),
    ("GET", r"/containers/json", _list),
    ("GET", r"/containers/(?P<name>[^/]+)/json", _with_box(_inspect)),
    ("GET", r"/containers/(?P<name>[^/]+)/logs", _with_box(_logs)),
    ("GET", r"/containers/(?P<name>[^/]+)/archive", _with_box(_archive)),
    ("POST", r"/containers/(?P<name>[^/]+)/start", _with_box(_start)),
    ("POST", r"/containers/(?P<name>[^/]+)/kill", _with_box(_kill)),
    ("POST", r"/containers/(?P<name>[^/]+)/pause", _with_box(_pause)),
    ("POST", r"/containers/(?P<name>[^/]+)/unpause", _with_box(_unpause)),
    ("POST", r"/containers/create", _create),
    ("DELETE", r"/containers/(?P<name>[^/]+)", _with_box(_remove)),
    ("GET", r"/volumes/(?P<name>[^/]+)", _volume),
]
