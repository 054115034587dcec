"""What the recorded engine answers to each question: the shapes of the published API 1.47."""

import base64
import io
import json
import os
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.machine.docker.boxes import NEVER, Box, Conflict, stamp

if TYPE_CHECKING:
    from tests.machine.docker.recorded import RecordedEngine

__all__ = ["API", "ROUTES", "Reply", "as_json"]

API = "1.47"

Reply = tuple[int, bytes, str, dict[str, str]]


def as_json(status: int, data: Any) -> Reply:
    return status, json.dumps(data).encode(), "application/json", {}


def _version(engine: "RecordedEngine", query: Any, body: Any) -> Reply:
    return as_json(200, {
        "Platform": {"Name": "recorded API, no Docker engine"}, "Version": "27.3.1",
        "ApiVersion": API, "MinAPIVersion": "1.24", "GitCommit": "", "GoVersion": "go1.22.7",
        "Os": "linux", "Arch": "amd64", "KernelVersion": os.uname().release,
        "BuildTime": "2024-09-20T11:41:00.000000000+00:00",
    })  # fmt: skip


def _info(engine: "RecordedEngine", query: Any, body: Any) -> Reply:
    running = sum(box.running for box in engine.boxes.values())
    return as_json(200, {
        "ID": "7TRN:IPZB:QYBB:VPBQ:UMPP:KARE:6ZNR:XE6T:7EWV:PKF4:ZOJD:TPYS",
        "Containers": len(engine.boxes), "ContainersRunning": running, "Driver": "overlay2",
        "SystemTime": stamp(), "Name": socket.gethostname(), "ServerVersion": "27.3.1",
        "CgroupVersion": "2",
    })  # fmt: skip


def _list(engine: "RecordedEngine", query: Any, body: Any) -> Reply:
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
    return as_json(200, found)


def _with_box(do: Callable[..., Reply]) -> Callable[..., Reply]:
    def wrapped(engine: "RecordedEngine", query: Any, body: Any, name: str) -> Reply:
        box = engine.find(name)
        if box is None:
            return as_json(404, {"message": f"No such container: {name}"})
        return do(engine, query, body, box)

    return wrapped


def _inspect(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    process, paused = box.process, box.paused
    ended = "exited" if box.started != NEVER else "created"
    status = ("paused" if paused else "running") if process else ended
    return as_json(200, {
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
        "NetworkSettings": {"Networks": {}, "Ports": {}, **box.network},
    })  # fmt: skip


def _start(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    if box.running:
        return 304, b"", "", {}
    if not Path(box.command[0]).exists():
        told = f'exec: "{box.command[0]}": stat {box.command[0]}: no such file or directory'
        return as_json(400, {"message": f"failed to create task: {told}: unknown"})
    engine.start(box)
    return 204, b"", "", {}


def _kill(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    engine.kill(box, query.get("signal", "SIGKILL"))
    return 204, b"", "", {}


def _pause(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    engine.pause(box)
    return 204, b"", "", {}


def _unpause(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    engine.unpause(box)
    return 204, b"", "", {}


def _stats(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    return as_json(200, {"id": box.id, "memory_stats": {"usage": box.used}})


def _update(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    if box.host.get("NanoCpus") and "CpuQuota" in body:
        told = "Conflicting options: CPU Quota cannot be updated as NanoCPUs has already been set"
        return as_json(400, {"message": told})
    box.host |= {key: max(value, 0) for key, value in body.items() if value}
    return as_json(200, {"Warnings": []})


def _create(engine: "RecordedEngine", query: Any, body: Any) -> Reply:
    engine.created.append(body)
    command = [*(body.get("Entrypoint") or []), *(body.get("Cmd") or [])]
    box = engine.add(
        query.get("name", f"quirky_{len(engine.created)}"),
        command,
        config={"Labels": body.get("Labels") or {}},
        host={"NetworkMode": body["HostConfig"].get("NetworkMode")},
    )
    box.image = body["Image"]
    return as_json(201, {"Id": box.id, "Warnings": []})


def _remove(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    if box.running:
        if query.get("force") not in ("1", "true", "True"):
            raise Conflict(f"cannot remove container {box.name}: container is running")
        engine.kill(box, "SIGKILL")
    del engine.boxes[box.id]
    return 204, b"", "", {}


def _logs(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    """Both streams in frames: a byte for which of them, three zeros, the length, the text."""
    frames = b""
    for number, name, text in ((1, "stdout", box.out), (2, "stderr", box.err)):
        if query.get(name) in ("1", "true", "True") and text:
            frames += bytes([number, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
    return 200, frames, "application/vnd.docker.multiplexed-stream", {}


def _archive(engine: "RecordedEngine", query: Any, body: Any, box: Box) -> Reply:
    path = Path(query["path"])
    if not path.exists():
        told = f"Could not find the file {path} in container {box.id}"
        return as_json(404, {"message": told})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(path, arcname=path.name)
    seen = path.stat()
    about = {"name": path.name, "size": seen.st_size, "mode": seen.st_mode & 0o777,
             "mtime": stamp(), "linkTarget": ""}  # fmt: skip
    encoded = base64.b64encode(json.dumps(about).encode()).decode()
    return 200, packed.getvalue(), "application/x-tar", {"X-Docker-Container-Path-Stat": encoded}


def _volume(engine: "RecordedEngine", query: Any, body: Any, name: str) -> Reply:
    if name not in engine.volumes:
        return as_json(404, {"message": f"get {name}: no such volume"})
    where = f"/var/lib/docker/volumes/{name}/_data"
    more = {"Name": name, "Mountpoint": where, "Scope": "local", "Labels": None}
    return as_json(200, {**more, **engine.volumes[name]})


ROUTES: list[tuple[str, str, Callable[..., Reply]]] = [
    ("GET", r"/version", _version),
    ("GET", r"/info", _info),
    ("GET", r"/containers/json", _list),
    ("GET", r"/containers/(?P<name>[^/]+)/json", _with_box(_inspect)),
    ("GET", r"/containers/(?P<name>[^/]+)/stats", _with_box(_stats)),
    ("GET", r"/containers/(?P<name>[^/]+)/logs", _with_box(_logs)),
    ("GET", r"/containers/(?P<name>[^/]+)/archive", _with_box(_archive)),
    ("POST", r"/containers/(?P<name>[^/]+)/start", _with_box(_start)),
    ("POST", r"/containers/(?P<name>[^/]+)/kill", _with_box(_kill)),
    ("POST", r"/containers/(?P<name>[^/]+)/pause", _with_box(_pause)),
    ("POST", r"/containers/(?P<name>[^/]+)/unpause", _with_box(_unpause)),
    ("POST", r"/containers/(?P<name>[^/]+)/update", _with_box(_update)),
    ("POST", r"/containers/create", _create),
    ("DELETE", r"/containers/(?P<name>[^/]+)", _with_box(_remove)),
    ("GET", r"/volumes/(?P<name>[^/]+)", _volume),
]
