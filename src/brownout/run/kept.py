"""Which runs are kept, how big they are, and which of them may go. Nothing is removed here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from brownout.run.directory import GAMEDAYS, runs_root

__all__ = ["KeptRun", "began_in", "list_all", "list_runs", "to_remove"]

_NAME = re.compile(r"(\d{8}T\d{6}Z)-.+")
#: One of these is in every folder that a run, a load, a search or a game day has written to.
_OURS = ("run.json", "outcomes.csv", "wanted.json", "gameday.json")


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


def began_in(name: str) -> datetime | None:
    """Return when a run began, from its name; None if it is not a run's name."""
    form = _NAME.fullmatch(name)
    return datetime.strptime(form[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if form else None


def list_runs() -> list[KeptRun]:
    """Return every run under the runs' root, the oldest first; anything else there is left out."""
    return _kept_in(runs_root())


def list_all() -> list[KeptRun]:
    """Return every run, and every game day beside them, the oldest first."""
    return [*list_runs(), *_kept_in(runs_root() / GAMEDAYS)]


def _kept_in(root: Path) -> list[KeptRun]:
    runs = []
    for path in root.iterdir() if root.is_dir() else ():
        began = began_in(path.name)
        if began is None or not path.name.isprintable() or path.is_symlink():
            continue
        if any((path / name).is_file() for name in _OURS):
            runs.append(KeptRun(path, began))
    return sorted(runs, key=lambda run: run.name)


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
