"""Merge the files of a run's generators, which are in `parts/<index>/`, by `loadgen merge`.

They are merged anew whenever a run is analysed; the parts are what was measured.
"""

import subprocess
from pathlib import Path
from typing import Any, Literal

from brownout.base.binary import find_loadgen
from brownout.base.errors import RunDirectoryError
from brownout.run.metadata import read_json
from brownout.run.parts.paths import FACTS

__all__ = ["merge", "merge_ledger", "merge_load"]


def merge(directory: Path) -> None:
    """Merge all files of a run again; a run of one generator does not change."""
    if (directory / FACTS).is_file():
        _run(directory)


def merge_load(directory: Path) -> dict[str, Any]:
    """Merge all but the ledger; return the content of `generator.json`."""
    _run(directory, "load")
    return read_json(directory / "generator.json")


def merge_ledger(directory: Path) -> None:
    """Merge `ledger.ndjson`, unless no generator kept one."""
    _run(directory, "ledger")


def _run(directory: Path, only: Literal["load", "ledger", ""] = "") -> None:
    """Raises `RunDirectoryError` for a damaged file of a part, and for a full disk."""
    words = [str(find_loadgen()), "merge", str(directory.absolute())]
    if only:
        words += ["--only", only]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    except OSError as error:
        raise RunDirectoryError(f"{words[0]}: cannot be run: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.strip() or f"`loadgen merge` ended with {done.returncode}"
        raise RunDirectoryError(f"{directory}: {said}")
