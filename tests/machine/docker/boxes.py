"""The containers of the recorded engine: processes of this machine, and what is known of them."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

__all__ = ["AHEAD_S", "NEVER", "Box", "Conflict", "stamp"]

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
    network: dict[str, Any] = field(default_factory=dict)
    mounts: list[dict[str, Any]] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid4().hex + uuid4().hex)
    image: str = "sha256:" + "5" * 64
    process: subprocess.Popen[bytes] | None = None
    watcher: threading.Thread | None = None
    started: str = NEVER
    finished: str = NEVER
    exit_code: int = 0
    paused: bool = False
    used: int = 0
    manually_stopped: bool = False
    restarts: int = 0
    out: bytes = b""
    err: bytes = b""
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def environment(self) -> dict[str, str]:
        """What its processes have in their environment, by which they are known."""
        return {"RECORDED_BOX": self.id}

    def members(self) -> list[int]:
        """The processes that it consists of; one may have written over its environment."""
        (mark,) = (f"{name}={value}\0".encode() for name, value in self.environment.items())
        parents = {pid: parent for pid, parent, _ in _processes()}
        found = {pid for pid, _, environment in _processes() if mark in environment}
        more = found
        while more:
            more = {pid for pid, parent in parents.items() if parent in more} - found
            found |= more
        return sorted(found)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to every process of it."""
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

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


def _processes() -> Iterator[tuple[int, int, bytes]]:
    """Yield each live process, its parent and its environment."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
                if after_name[0] not in "ZX":
                    yield int(entry.name), int(after_name[1]), (entry / "environ").read_bytes()


class Conflict(Exception):
    """409: the container is not in a state for that."""
