"""The last words of a run: its journal, its impact, its report, and the table in the terminal."""

import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.judge.analysis import analyze
from brownout.measure.impact import Impact
from brownout.run.directory import RunDirectory
from brownout.show.report import html
from brownout.show.report.table import render

__all__ = ["Remember", "conclude"]

Remember = Callable[[RunDirectory, Impact], None]

logger = logging.getLogger("chaostoolkit")


def conclude(
    directory: RunDirectory,
    journal: Mapping[str, Any],
    settle: Callable[[str], None],
    remember: Remember,
) -> Impact:
    """Write all that is made from a run's raw files, print the table, and return the impact.

    `settle` sets in `journal` what hangs on the verdict. A report that cannot be made is only
    logged: the verdict does not hang on it. `remember` puts the run into the history, and logs a
    warning if it cannot.
    """
    directory.write_journal(journal)  # also of a run that cannot be judged
    impact = analyze(directory.path)
    settle(impact.verdict)
    directory.write_journal(journal)
    _print(render(impact, str(directory.path)))
    try:
        _print(f"report {html.write(directory.path)}")
    except BrownoutError as error:
        logger.warning(f"no report: {error}")
    remember(directory, impact)
    return impact


def _print(text: str) -> None:
    """A terminal that was closed meanwhile keeps nothing from being recorded."""
    with contextlib.suppress(OSError):
        print(text, flush=True)
