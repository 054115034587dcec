"""What was done and seen when: `events.ndjson`, one line a stage, each forced to the disk.

    intent ──▶ effective ──▶ ended      a break or a mend; in place of the last two `failed`,
                                        or `refused` where nothing was done
    point                               a milestone, a phase, a check, an abort, a note

An intent is written before it is acted on, so after a crash the file tells what may be broken.
Nothing is broken on purpose that cannot be written down; everything else, undoing above all,
continues on a full disk, and what could not be written is written as soon as it can be.
"""

import contextlib
import errno
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_file
from brownout.base.printable import printable
from brownout.base.redact import redact
from brownout.run.shape import is_count, is_time

__all__ = ["Event", "EventLog", "read_events", "wall_clock"]

logger = logging.getLogger("chaostoolkit")

_COMMON = ("id", "stage", "type", "name", "node", "t", "wall")
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """All stages of one event. Times are seconds since the schedule's start; None = not (known).

    `requested` is when a break or mend was asked for, and when anything else was noted;
    `effective` when its cause was proven, `uncertainty` seconds late at most. `wall` is the time of
    day at which it took effect, or was asked for or noted. `fields` holds
    what a point says besides, e.g. `{"last_no": 24.1, "first_yes": 24.3}` of a milestone.
    """

    id: int
    type: str
    name: str
    node: str | None = None
    wall: str = ""
    requested: float | None = None
    effective: float | None = None
    uncertainty: float | None = None
    ended: float | None = None
    evidence: Data = field(default_factory=dict)
    arguments: Data = field(default_factory=dict)
    undo: Data | None = None
    error: str | None = None
    refused: bool = False
    fields: Data = field(default_factory=dict)

    @property
    def is_revoked(self) -> bool:
        """Whether this says of a milestone that was reached that it is so no longer."""
        return self.type == "milestone" and self.fields.get("revoked") is True


class EventLog:
    """Appends events; safe to use from several threads, and to open again after a crash.

    `clock` gives the seconds since the schedule's start, or None before it began.
    """

    def __init__(self, path: Path, clock: Callable[[], float | None] = lambda: None) -> None:
        self._path, self._clock = path, clock
        self._lock = threading.Lock()
        self._known: dict[int, Data] = {}
        self._unwritten: list[str] = []
        events = read_events(path) if path.exists() else []
        self._next = max((event.id for event in events), default=0) + 1
        self._mend_torn_end()

    @property
    def directory(self) -> Path:
        """The directory that the file is in."""
        return self._path.parent

    def tells_of(self, name: str, node: str) -> bool:
        """Return whether this file has an event of this name and node, also from before a crash."""
        events = read_events(self._path) if self._path.exists() else []
        return any((event.name, event.node) == (name, node) for event in events)

    def intent(
        self,
        type: str,
        name: str,
        *,
        node: str | None = None,
        undo: Data | None = None,
        arguments: Data | None = None,
    ) -> int:
        """Write that `name` is about to be done, and how it is undone; return the event's id.

        Raises `RunDirectoryError` where a break, or what has an undo, cannot be written down.
        """
        return self._begin("intent", type, name, node, {"undo": undo, "arguments": arguments or {}})

    def effective(
        self,
        id: int,
        t: float | None,
        uncertainty: float | None = None,
        evidence: Data | None = None,
    ) -> None:
        """Write that event `id` took effect at `t` at the latest, and what proves it."""
        self._follow(id, "effective", t, {"uncertainty": uncertainty, "evidence": evidence or {}})

    def ended(self, id: int, t: float | None = None, evidence: Data | None = None) -> None:
        """Write that event `id` is over; at `t`, or now."""
        self._follow(id, "ended", t, {"evidence": evidence} if evidence else {})

    def failed(self, id: int, error: str) -> None:
        """Write that event `id` could not be done, and why."""
        self._follow(id, "failed", None, {"error": error})

    def refused(self, id: int, error: str) -> None:
        """Write that event `id` was refused by whatever was to do it: nothing was done."""
        self._follow(id, "refused", None, {"error": error})

    def point(
        self,
        type: str,
        name: str,
        *,
        node: str | None = None,
        t: float | None = None,
        **fields: Any,
    ) -> int:
        """Write an event of one line: a milestone, phase, check, abort or note; return its id."""
        return self._begin("point", type, name, node, fields, t)

    def _begin(
        self,
        stage: str,
        type: str,
        name: str,
        node: str | None,
        fields: Data,
        t: float | None = None,
    ) -> int:
        with self._lock:
            id, self._next = self._next, self._next + 1
            self._known[id] = {"type": type, "name": name, "node": node}
            self._append(id, stage, t, fields)
            return id

    def _follow(self, id: int, stage: str, t: float | None, fields: Data) -> None:
        with self._lock:
            self._append(id, stage, t, fields)

    def _append(self, id: int, stage: str, t: float | None, fields: Data) -> None:
        now = self._clock()
        at = now if t is None else t
        late = 0.0 if now is None or at is None else now - at
        line = {
            "id": id,
            "stage": stage,
            **self._known[id],
            "t": None if at is None else round(at, 6),
            "wall": wall_clock(late),
            **{key: value for key, value in fields.items() if key not in _COMMON},
        }
        text = json.dumps(redact(line), ensure_ascii=False) + "\n"
        must = stage == "intent" and (line["type"] == "break" or line.get("undo") is not None)
        self._write(text, must=must)

    def _write(self, text: str, must: bool) -> None:
        """Write a line after those that could not be written; keep it where it cannot be either.

        Raises `RunDirectoryError` instead where it `must` be written.
        """
        try:
            _append("".join([*self._unwritten, text]).encode(), self._path)
            self._unwritten.clear()
        except OSError as error:
            problem = f"{self._path}: cannot be written: {error.strerror}"
            if must:
                raise RunDirectoryError(
                    problem, "nothing is broken on purpose that cannot be written down"
                ) from error
            if not self._unwritten:
                logger.error(problem)
            self._unwritten.append(text)

    def _mend_torn_end(self) -> None:
        """Close a line that a crash left open, so that the next one stands by itself."""
        if self._path.exists() and (text := self._path.read_bytes()) and not text.endswith(b"\n"):
            self._write("\n", must=False)


def _append(data: bytes, path: Path) -> None:
    """Add `data` to a file and force it to the disk; on an error, leave none of it there."""
    with private_file(path).open("ab", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one that matters
                os.ftruncate(file.fileno(), size)
            raise


def wall_clock(ago_s: float = 0.0) -> str:
    """Return the time of day, RFC 3339 in UTC with milliseconds; of `ago_s` seconds ago."""
    return _rfc3339(datetime.now(UTC) - timedelta(seconds=ago_s))


def _rfc3339(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_events(path: Path) -> list[Event]:
    """Read `events.ndjson`, all stages of an id as one event, in the order they began.

    A line that is not whole, as a crash leaves it, is passed over. Raises `RunDirectoryError`
    where the file cannot be read.
    """
    events: dict[int, Event] = {}
    for line in _lines(path):
        id = line["id"]
        events[id] = _merge(events.get(id), line)
    return list(events.values())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error.strerror}") from error
    for raw in text.split("\n"):
        try:
            line = printable(json.loads(raw))
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and is_count(line.get("id")) and "stage" in line:
            yield {key: value for key, value in line.items() if _is_known(key, value)}


def _is_known(key: str, value: Any) -> bool:
    """Say whether a field holds what can stand there; of a damaged line the rest still counts."""
    if value is None:
        return True
    if key in ("t", "uncertainty", "last_no", "first_yes", "last_seen", "first_not", "limit_s"):
        return is_time(value)
    if key == "node":
        return isinstance(value, str)
    if key == "undo":
        return isinstance(value, dict) and isinstance(value.get("action"), str)
    return key not in ("evidence", "arguments") or isinstance(value, dict)


def _later(wall: str, length_s: float) -> str:
    """Return a time of day `length_s` seconds later; any other text is returned unchanged."""
    try:
        return _rfc3339(datetime.fromisoformat(wall) + timedelta(seconds=length_s))
    except (ValueError, OverflowError):
        return wall


def _merge(event: Event | None, line: Data) -> Event:
    if event is None:
        event = Event(
            id=line["id"],
            type=str(line.get("type", "")),
            name=str(line.get("name", "")),
            node=line.get("node"),
            wall=str(line.get("wall", "")),
        )
    stage, t = line["stage"], line.get("t")
    evidence = {**event.evidence, **(line.get("evidence") or {})}
    if stage == "intent":
        arguments = line.get("arguments") or {}
        return replace(event, requested=t, undo=line.get("undo"), arguments=arguments)
    if stage == "effective":
        wall = event.wall
        if t is not None and event.requested is not None:
            wall = _later(wall, t - event.requested)
        unsure = line.get("uncertainty")
        return replace(event, effective=t, uncertainty=unsure, evidence=evidence, wall=wall)
    if stage == "ended":
        return replace(event, ended=t, evidence=evidence)
    if stage in ("failed", "refused"):
        return replace(event, error=str(line.get("error")), refused=stage == "refused")
    fields = {key: line[key] for key in line if key not in (*_COMMON, "evidence")}
    return replace(event, requested=t, evidence=evidence, fields=fields)
