"""Where the history is, from `BROWNOUT_HISTORY`: a file, a database's URL, or `off`."""

import os

from brownout.faults.open_runs import state_home
from brownout.runs.database import Place, place_of

__all__ = ["VARIABLE", "find"]

VARIABLE = "BROWNOUT_HISTORY"
_OFF = ("off", "none", "no")


def find(text: str | None = None) -> Place | None:
    """Return the place that `text`, else the environment names; None where it is switched off.

    Raises `ConfigurationError` for an invalid URL, without repeating it.
    """
    given = text or os.environ.get(VARIABLE) or str(state_home() / "history.sqlite")
    return None if given.strip().lower() in _OFF else place_of(given, VARIABLE)
