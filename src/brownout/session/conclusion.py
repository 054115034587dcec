"""The last words of a run: its journal, its impact, its report, and the table in the terminal."""

import contextlib
import logging
from collections.abc import Mapping
from typing import Any

from brownout.errors import BrownoutError
from brownout.history.recording import record_quietly
from brownout.report import html
from brownout.report.table import render
from brownout.run import analyze
from brownout.run.directory import RunDirectory

__all__ = ["conclude"]

logger = logging.getLogger("chaostoolkit")


def conclude(directory: RunDirectory, journal: Mapping[str, Any]) -> dict[str, Any]:
    """Write all that is made from a run's raw files, print the table, and return the impact.

    A report that cannot be made, and a history that cannot be written, are said and no more: the
    verdict does not hang on them.
    """
    directory.write_journal(journal)
    impact = analyze(directory.path)
    _print(render(impact, str(directory.path)))
    try:
        _print(f"report {html.write(directory.path)}")
    except BrownoutError as error:
        logger.warning(f"no report: {error}")
    record_quietly(directory, impact)
    return impact


def _print(text: str) -> None:
    """A terminal that was closed meanwhile keeps nothing from being recorded."""
    with contextlib.suppress(OSError):
        print(text, flush=True)
