"""Why a game day is to end before its last step: the first reason given is kept."""

import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from brownout.base.errors import GeneratorError
from brownout.run.series import Series
from brownout.session.signals import Handler
from brownout.session.stop_conditions import AvailabilityBelow, Condition, StopWatch

__all__ = ["Stop"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Watches signals and stop conditions while it is a context; main thread only.

    How many are served is watched by the run itself, which has the load.
    """

    def __init__(self, conditions: Sequence[Condition], place: Path) -> None:
        self.reason = ""
        own = [each for each in conditions if not isinstance(each, AvailabilityBelow)]
        self._watch = StopWatch(own, place / "abort", _no_load, self.ask)
        self._before: dict[signal.Signals, Handler] = {}

    def ask(self, reason: str) -> None:
        """Have the day end; the first reason counts. Callable from any thread."""
        self.reason = self.reason or reason

    def __enter__(self) -> "Stop":
        self._before = {number: signal.signal(number, self._heard) for number in SIGNALS}
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.end()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.ask(f"the game day was told to end by {signal.Signals(number).name}")


def _no_load() -> Series:
    raise GeneratorError("between experiments there is no load")
