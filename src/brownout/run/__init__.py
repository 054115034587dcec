"""The run directory: the raw files of one run, read and written, and what is made from them."""

from pathlib import Path
from typing import Any

__all__ = ["analyze"]


def analyze(path: Path | str) -> dict[str, Any]:
    """Make `ledger.json` and `impact.json` of a run again from its raw files; return the impact.

    The same raw files give the same bytes. Raises `RunDirectoryError` where `path` is no run
    directory or a file that is needed cannot be read.
    """
    # Imported late: the analysis stands on `brownout.impact`, which stands on this package.
    from brownout.run.analysis import analyze as make

    return make(path)
