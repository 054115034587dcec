"""The directories of game days: `gamedays/<utc time>-<name>` under the runs' folder.

gameday.json    the record, written anew at every step
summary.md      the same for people, with links to each run
"""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_directory, replace_file
from brownout.base.redact import redact
from brownout.run.directory import GAMEDAYS, make_new, runs_root
from brownout.run.events import wall_clock
from brownout.run.metadata import read_json, write_json
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.summary import markdown

__all__ = ["Day", "all_days", "new_place", "root"]


class Day:
    """One game day on the disk; it may be written from several threads."""

    def __init__(self, path: Path, record: Record) -> None:
        self.path = path
        self.record = record
        self._writing = RLock()

    @property
    def summary(self) -> Path:
        """Its summary for people."""
        return self.path / "summary.md"

    def note(self, words: str) -> None:
        """Write something down, with the time."""
        with self._writing:
            self.record.notes.append(f"{wall_clock()} {words}")
            self.save()

    def save(self) -> None:
        """Write the record, whole or not at all, and the summary."""
        with self._writing:
            write_json(self.path / "gameday.json", redact(asdict(self.record)))
            replace_file(self.summary, markdown(self.record, self.path))

    @classmethod
    def open(cls, path: Path) -> "Day":
        """Read a game day; raises `RunDirectoryError` if `path` is not one."""
        data = read_json(path / "gameday.json")
        try:
            steps = [StepRecord(**step) for step in data.pop("steps")]
            return cls(path, Record(**data, steps=steps))
        except (KeyError, TypeError) as error:
            raise RunDirectoryError(f"{path}: no record of a game day: {error}") from error


def root() -> Path:
    """Return where game days lie."""
    return runs_root() / GAMEDAYS


def new_place(name: str) -> Path:
    """Make the directory of a new game day."""
    try:
        private_directory(root())
        return make_new(root(), f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{name}").absolute()
    except OSError as error:
        raise RunDirectoryError(
            f"{root()}: a game day's directory cannot be made there: {error.strerror}",
            "set BROWNOUT_RUNS to a directory that can be written",
        ) from error


def all_days(name: str = "") -> list[Day]:
    """Return every game day, or those called `name`, the latest last; damaged ones are left out."""
    days = []
    for path in sorted(root().glob("*/gameday.json")):
        try:
            day = Day.open(path.parent)
        except RunDirectoryError:
            continue
        if name in ("", day.record.name):
            days.append(day)
    return days
