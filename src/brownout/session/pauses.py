"""The pauses of an experiment's steps, waited here and not by Chaos Toolkit.

Chaos Toolkit sleeps through a pause whatever happens meanwhile: also after a step that failed,
while a node is down. Here a pause ends when the run has to stop, people see what is waited for, and
a pause that took longer than it says is known.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from chaoslib import substitute
from chaoslib.types import Activity, Configuration, Run, Secrets

from brownout.base.wait import since_boot, wait_until
from brownout.run.contract import is_late

__all__ = ["Pauses"]

logger = logging.getLogger("chaostoolkit")

_STEP_S = 0.1

#: Gets where the pause is, as `before start-the-node`, how long it should be and how long it was.
Late = Callable[[str, float, float], None]


class Pauses:
    """Waits for the pauses of activities; `say` tells people which, and `late` hears of long ones.

    `must_stop` says that the run is to end, which ends a pause.
    """

    def __init__(
        self, must_stop: Callable[[], bool], say: Callable[[str, float], None], late: Late
    ) -> None:
        self._must_stop, self._say, self._late = must_stop, say, late
        self._taken: dict[int, tuple[Any, Mapping[str, Any]]] = {}

    def before(self, activity: Activity, configuration: Configuration, secrets: Secrets) -> None:
        """Take the pauses of an activity that begins from Chaos Toolkit, and wait for the first."""
        pauses = activity.get("pauses")
        seconds = substitute(pauses or {}, configuration, secrets)
        numbers = all(isinstance(each, int | float) for each in seconds.values())
        if not seconds or not numbers or activity.get("dry"):
            return  # Chaos Toolkit says what is wrong with them
        self._taken[id(activity)] = activity.pop("pauses"), seconds
        self._wait("before", activity, seconds)

    def after(self, activity: Activity, run: Run) -> None:
        """Give the pauses of an activity back, and wait for the second; `run` is what it did.

        Not where it did not end by itself, or the run has to stop.
        """
        pauses, seconds = self._taken.pop(id(activity), (None, {}))
        if pauses is None:
            return
        activity["pauses"] = pauses
        if run:
            run["activity"]["pauses"] = pauses
            self._wait("after", activity, seconds)

    def _wait(self, side: str, activity: Activity, seconds: Mapping[str, Any]) -> None:
        due_s = float(seconds.get(side) or 0.0)
        if due_s <= 0.0:
            return
        where = f"{side} {activity.get('name')}"
        if self._must_stop():
            logger.info(f"not waiting {due_s:g} s {where}: the run is to end")
            return
        logger.info(f"waiting {due_s:g} s {where}")
        self._say(f"waiting {where}", due_s)
        began = since_boot()
        if wait_until(self._must_stop, due_s, _STEP_S):
            return
        took_s = since_boot() - began
        if is_late(took_s - due_s, due_s):
            self._late(where, due_s, took_s)
