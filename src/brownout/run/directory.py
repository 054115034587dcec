"""The directory of one run: where each of its files lies, making it, finding it again.

`docs/run-directory.md` describes every file.
"""

import os
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_directory
from brownout.base.redact import redact
from brownout.run.events import wall_clock
from brownout.run.metadata import read_json, write_json
from brownout.run.parts.paths import FACTS

__all__ = ["EXPLORATIONS", "GAMEDAYS", "SCHEMA_VERSION", "RunDirectory"]
__all__ += ["make_new", "runs_root", "shortage"]

#: Of run.json, ledger.json and impact.json.
SCHEMA_VERSION = 1
#: The folder of the game days, beside the runs.
GAMEDAYS = "gamedays"
#: The folder of the explorations, beside them.
EXPLORATIONS = "explorations"
#: Less than this free is too little for a run of an hour.
LEAST_FREE_BYTES = 200_000_000
#: Less than this during a run ends it, with room left for its own last words.
LEAST_FREE_AT_WORK = 20_000_000
_PROBE_BYTES = 1 << 16


def runs_root() -> Path:
    """Return where runs lie: `BROWNOUT_RUNS`, or `./runs`."""
    return Path(os.environ.get("BROWNOUT_RUNS") or "runs")


class RunDirectory:
    """The paths of one run's files. Make one with `create`, `open` or `find`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_json = path / "run.json"
        self.series = path / "series.csv"
        self.outcomes = path / "outcomes.csv"
        self.errors = path / "errors.csv"
        self.lanes = path / "lanes.csv"
        self.balance = path / "balance.csv"
        self.primaries = path / "primaries.csv"
        self.latency = path / "latency.hlog"
        self.generator = path / "generator.json"
        self.generator_series = path / "generator.csv"
        self.events = path / "events.ndjson"
        self.ledger_lines = path / "ledger.ndjson"
        self.journal = path / "journal.json"
        self.lab_logs = path / "lab-logs"
        self.ledger = path / "ledger.json"
        self.impact = path / "impact.json"
        self.report = path / "report.html"
        self.parts = path / FACTS

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"RunDirectory({str(self.path)!r})"

    @property
    def run_id(self) -> str:
        """The run's name, e.g. `20261122T101500Z-node-wipe-4711`."""
        return self.path.name

    @classmethod
    def create(
        cls,
        experiment: str,
        seed: int,
        root: Path | None = None,
        least_free_bytes: int = LEAST_FREE_BYTES,
    ) -> Self:
        """Make the directory of a new run, `<utc time>-<experiment>-<seed>`, and try to write.

        Raises `RunDirectoryError` where it cannot be made or written, or where less than
        `least_free_bytes` are free: a run whose files end in the middle is worth nothing.
        """
        place = root or runs_root()
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{_slug(experiment)}-{seed}"
        try:
            private_directory(place)
            path = make_new(place, name)
        except OSError as error:
            raise _unusable(place, error) from error
        try:
            _check_space(path, least_free_bytes)
        except RunDirectoryError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        return cls(path)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a run directory; raises `RunDirectoryError` if `path` is not one."""
        directory = cls(Path(path))
        if not directory.path.is_dir():
            raise RunDirectoryError(f"{path}: there is no such run directory")
        if not directory.run_json.is_file():
            raise RunDirectoryError(f"{path}: not a run directory: it has no run.json")
        return directory

    @classmethod
    def find(cls, name: Path | str) -> Self:
        """Open a run by its path, its name under the runs' root, or `latest`."""
        if str(name) == "latest":
            return cls.open(_latest(runs_root()))
        by_name = runs_root() / Path(name)
        return cls.open(by_name if not Path(name).is_dir() and by_name.is_dir() else name)

    def write_metadata(self, data: Mapping[str, Any]) -> None:
        """Write `run.json`: `data` without secrets, with the run's id and when it was made."""
        head = {"schema_version": SCHEMA_VERSION, "run_id": self.run_id, "created": wall_clock()}
        write_json(self.run_json, {**head, **redact(data)})

    def read_metadata(self) -> dict[str, Any]:
        """Read `run.json`."""
        return read_json(self.run_json)

    def write_journal(self, journal: Mapping[str, Any]) -> None:
        """Write Chaos Toolkit's journal, without secrets."""
        write_json(self.journal, redact(journal))


def shortage(path: Path) -> str | None:
    """Say that the file system of a running run is nearly full; None where it is not."""
    try:
        free = shutil.disk_usage(path).free
    except OSError as error:
        return f"the run directory is gone: {error.strerror}"
    if free >= LEAST_FREE_AT_WORK:
        return None
    return (
        f"only {free / 1e6:,.1f} MB are free where the run directory is, wanted "
        f"{LEAST_FREE_AT_WORK / 1e6:,.0f} MB"
    )


def _slug(name: str) -> str:
    """Return `name` as lower-case words joined by hyphens, fit for a directory's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "experiment"


def make_new(place: Path, name: str) -> Path:
    """Make a directory that was not there; two runs of one second get different names."""
    for number in range(1, 100):
        path = place / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(17, "99 runs of this name exist", str(place / name))


def _check_space(path: Path, least_free_bytes: int) -> None:
    """Free space is what the file system says, and what it then really takes."""
    try:
        free = shutil.disk_usage(path).free
        probe = path / ".probe"
        with probe.open("wb") as file:
            file.write(b"\0" * _PROBE_BYTES)
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        raise _unusable(path.parent, error) from error
    if free < least_free_bytes:
        raise RunDirectoryError(
            f"{path.parent}: {free / 1e6:,.0f} MB are free, wanted {least_free_bytes / 1e6:,.0f} MB"
            " for the files of a run",
            "free some space, or set BROWNOUT_RUNS to a directory elsewhere",
        )


def _unusable(place: Path, error: OSError) -> RunDirectoryError:
    return RunDirectoryError(
        f"{place}: a run directory cannot be made there: {error.strerror}",
        "set BROWNOUT_RUNS to a directory that can be written",
    )


def _latest(root: Path) -> Path:
    runs = sorted(p for p in root.glob("*") if (p / "run.json").is_file()) if root.is_dir() else []
    if not runs:
        raise RunDirectoryError(f"{root}: there is no run yet")
    return runs[-1]
