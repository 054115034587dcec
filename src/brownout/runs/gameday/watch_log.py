"""What a server of schedules must know of the one before it: a small file in BROWNOUT_STATE.

    {"pid": 4711, "started": 812345, "seen": "2026-11-28T08:30:00+00:00",
     "running": {"/etc/brownout/release.yaml": "2026-11-28T08:00:00.000Z"},
     "missed": {"/etc/brownout/release.yaml": {"count": 2, "noticed": 1795858200.0}},
     "died": {"/etc/brownout/release.yaml": 1795858200.0},
     "stale": ["/etc/brownout/release.yaml node-kill 2026-10-19 09:04:12+00:00"]}

`pid` is there while a server serves; where its process is dead, it was killed. `running` are the
game days that it has started and that have not ended, with when. `missed`, and `died` of a day that
held no cluster, so that no record says so, have when that was noticed. `stale` are the passes that
people were told of. Only the server that holds the lock writes it.
"""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brownout.base.files import replace_file
from brownout.faults.open_runs import state_home
from brownout.machine import procfs
from brownout.run.events import wall_clock

__all__ = ["WatchLog"]


@dataclass(slots=True)
class WatchLog:
    """The file's content; `save` writes it whole or not at all."""

    pid: int = 0
    started: int = 0
    seen: str = ""
    running: dict[str, str] = field(default_factory=dict)
    missed: dict[str, dict[str, float]] = field(default_factory=dict)
    died: dict[str, float] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    @classmethod
    def read(cls) -> "WatchLog":
        """Return what the last server left; an unreadable file says nothing."""
        try:
            data: dict[str, Any] = json.loads(_path().read_text(encoding="utf-8"))
            return cls(**data)
        except (OSError, ValueError, TypeError):
            return cls()

    @property
    def state(self) -> str:
        """`serving`, `died`, or empty where the last server ended as it should."""
        if not self.pid:
            return ""
        alive = procfs.is_alive(procfs.Identity(self.pid, self.started, ()))
        return "serving" if alive else "died"

    def serve(self) -> None:
        """Note that this process serves from now on."""
        me = procfs.identify(os.getpid())
        self.pid, self.started = os.getpid(), me.started if me else 0
        self.running = {}

    def end(self) -> None:
        """Note that it ended as it should."""
        self.pid = 0

    def miss(self, path: str) -> None:
        """Count a day that was not started, as is noticed now."""
        before = self.missed.get(path, {"count": 0.0})
        self.missed[path] = {"count": before["count"] + 1, "noticed": time.time()}

    def die(self, path: str) -> None:
        """Note that a day died before it held its cluster, as is noticed now."""
        self.died[path] = time.time()

    def save(self) -> None:
        """Write the file, with the time; raises `RunDirectoryError` where it cannot be written."""
        self.seen = wall_clock()
        replace_file(_path(), json.dumps(asdict(self)))


def _path() -> Path:
    return state_home() / "serving.json"
