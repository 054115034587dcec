"""Which runs are kept, how big they are, and which of them may go. Nothing is removed here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.run.directory import GAMEDAYS, runs_root
from brownout.run.metadata import read_json

__all__ = ["KeptRun", "age", "list_all", "list_runs", "to_remove", "verdict_of"]

_AGES = {"h": "hours", "d": "days", "w": "weeks"}
_NAME = re.compile(r"(\d{8}T\d{6}Z)-.+")


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One directory under the runs' root, with when its run began."""

    path: Path
    began: datetime

    @property
    def name(self) -> str:
        """The run's id."""
        return self.path.name

    def bytes(self) -> int:
        """How much it takes on the disk, all its files together."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def list_runs() -> list[KeptRun]:
    """Return every run under the runs' root, the oldest first; anything else there is left out."""
    return _kept_in(runs_root())


def list_all() -> list[KeptRun]:
    """Return every run, and every game day beside them, the oldest first."""
    return [*list_runs(), *_kept_in(runs_root() / GAMEDAYS)]


def _kept_in(root: Path) -> list[KeptRun]:
    found = []
    for path in root.iterdir() if root.is_dir() else ():
        form = _NAME.fullmatch(path.name)
        if form and path.is_dir() and not path.is_symlink():
            began = datetime.strptime(form[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            found.append(KeptRun(path, began))
    return sorted(found, key=lambda run: run.name)


def to_remove(
    runs: Sequence[KeptRun], now: datetime, keep: int | None, older_than: timedelta | None
) -> list[KeptRun]:
    """Return the runs that may go: beyond the latest `keep`, and older than `older_than`.

    Where both are given, a run must be both.
    """
    old = list(runs)
    if keep is not None:
        old = old[: max(0, len(runs) - keep)]
    if older_than is not None:
        old = [run for run in old if now - run.began > older_than]
    return old


def age(text: str) -> timedelta:
    """Read `12h`, `30d` or `8w`; raises `ConfigurationError` for anything else."""
    form = re.fullmatch(r"(\d+)([hdw])", text.strip())
    if form is None:
        raise ConfigurationError(f"--older-than: found {text!r}, wanted an age as 12h, 30d or 8w")
    return timedelta(**{_AGES[form[2]]: int(form[1])})


def verdict_of(path: Path) -> str:
    """Return the verdict of a run or a game day, or why it has none."""
    if (path / "gameday.json").is_file():
        return _verdict_in(path / "gameday.json")
    if not (path / "run.json").is_file():
        return "load only"
    if not (path / "impact.json").is_file():
        return "not judged"
    return _verdict_in(path / "impact.json")


def _verdict_in(file: Path) -> str:
    try:
        return str(read_json(file).get("verdict") or "not judged")
    except RunDirectoryError:
        return "unreadable"
