"""What every series of runs keeps by: a directory of its own, and how many runs it still wants."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_directory
from brownout.run.directory import make_new, runs_root
from brownout.run.metadata import read_json
from brownout.runs.run_set import JUDGED

__all__ = ["last_directory", "new_directory", "runs_wanted"]


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
