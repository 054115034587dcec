"""What every series of runs keeps by: a directory of its own, and how many runs it still wants."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from brownout.base.errors import Refused, RunDirectoryError
from brownout.base.files import private_directory
from brownout.run.directory import make_new, runs_root
from brownout.run.metadata import read_json
from brownout.runs.run_set import JUDGED
from brownout.runs.series_file import SeriesFile

__all__ = ["last_directory", "new_directory", "resumed", "runs_wanted"]


def new_directory(folder: str, name: str, what: str, path: Path | None = None) -> tuple[Path, str]:
    """Make `<utc time>-<name>` in a folder beside the runs, or else `path`; return it and when.

    Raises `RunDirectoryError`, which names `what` cannot be kept.
    """
    now = datetime.now(UTC)
    root = runs_root() / folder
    try:
        private_directory(path or root)
        path = path or make_new(root, f"{now:%Y%m%dT%H%M%SZ}-{name}")
    except OSError as error:
        raise RunDirectoryError(
            f"{root}: {what} cannot be kept there: {error.strerror}",
            "set BROWNOUT_RUNS to a directory that can be written",
        ) from error
    return path.absolute(), now.isoformat()


File = TypeVar("File", bound=SeriesFile, contravariant=True)


class Resumable(Protocol[File]):
    """The record of a series, as far as resuming asks."""

    @property
    def path(self) -> Path:
        """The directory of the series."""

    @property
    def ended(self) -> str:
        """When it ended; empty if it did not."""

    def is_of(self, file: File, /) -> bool:
        """Whether the file says what it said when the series began."""


Record = TypeVar("Record", bound=Resumable[Any])


def resumed(what: str, file: SeriesFile, record: Record | None) -> Record:
    """Return the last record of a file's series; raises `Refused` where it cannot be continued."""
    if record is None:
        raise Refused(f"found no {what} {file.name} to resume", "run it without --resume")
    if not record.is_of(file):
        raise Refused(
            f"{file.path} is not what it was when {record.path} began", "run it without --resume"
        )
    if record.ended:
        raise Refused(f"nothing is left to run of {record.path}", "run it without --resume")
    return record


def last_directory(
    folder: str, file: str, is_wanted: Callable[[Mapping[str, Any]], bool]
) -> Path | None:
    """Return the latest directory whose record, `file`, is wanted; None where there is none."""
    records = sorted((runs_root() / folder).glob(f"*/{file}"), reverse=True)
    return next((path.parent for path in records if is_wanted(read_json(path))), None)


def runs_wanted(verdicts: Sequence[str], repeats: int, again: int) -> int:
    """Return how many runs are still wanted if each of them counts.

    None where more than `again` of those made could not be judged.
    """
    judged = sum(verdict in JUDGED for verdict in verdicts)
    return 0 if len(verdicts) - judged > again else max(0, repeats - judged)
