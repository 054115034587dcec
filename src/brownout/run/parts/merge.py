"""Merge the files of a run's generators, which are in `parts/<index>/`, by `loadgen merge`.

They are merged anew whenever a run is analysed; the parts are what was measured.
"""

from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.run.columns import ask_loadgen
from brownout.run.metadata import read_json
from brownout.run.parts.paths import FACTS

__all__ = ["merge", "merge_ledger", "merge_load"]


def merge(directory: Path) -> None:
    """Merge all files of a run again; a run of one generator does not change."""
    if (directory / FACTS).is_file():
        _run(directory)


def merge_load(directory: Path) -> dict[str, Any]:
    """Merge all but the ledger; return the content of `generator.json`."""
    _run(directory, "--only", "load")
    return read_json(directory / "generator.json")


def merge_ledger(directory: Path) -> None:
    """Merge `ledger.ndjson`, unless no generator kept one."""
    _run(directory, "--only", "ledger")


def _run(directory: Path, *only: str) -> None:
    """Raises `RunDirectoryError` for a damaged file of a part, and for a full disk."""
    try:
        ask_loadgen("merge", str(directory.absolute()), *only)
    except RunDirectoryError as error:
        raise RunDirectoryError(f"{directory}: {error}") from error
