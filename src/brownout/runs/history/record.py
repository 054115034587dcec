"""Put runs into the history: each when it ends, older ones on request."""

import logging
import os
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.measure.impact import Impact
from brownout.run.directory import RunDirectory
from brownout.run.metadata import OCCASION

__all__ = ["record", "record_quietly"]

logger = logging.getLogger("chaostoolkit")


def record(directory: RunDirectory, place: Any, occasion: str | None = None) -> None:
    """Put a run that is over into the history at `place`; raises `HistoryError`."""
    from dataclasses import replace

    from brownout.runs.history.store import Store
    from brownout.runs.run_set import FinishedRun

    run = FinishedRun.read(directory.path)
    with Store(place) as store:
        store.put(replace(run, occasion=occasion))


def record_quietly(directory: RunDirectory, impact: Impact) -> None:
    """Put the run that has just ended into the history; where that fails, say so and no more."""
    try:
        from brownout.runs.history.place import find

        place = find()
        if place is not None:
            record(directory, place, os.environ.get(OCCASION) or None)
    except BrownoutError as error:
        logger.warning(f"the {impact.verdict} is not in the history: {error}")
    except Exception as error:  # whatever a driver does, the verdict stands
        logger.warning(f"the {impact.verdict} is not in the history: {type(error).__name__}")
