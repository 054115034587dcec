"""What a person sees of a running experiment: a panel in a terminal, plain lines elsewhere.

The session says what it does; what is on disk of the run (run.json, events.ndjson) is read from
its directory as soon as there is one. The picture itself is made in `brownout.show.live`.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from brownout.observe.compose import RunFacts, compose
from brownout.run.series import LiveSeries
from brownout.show.live.board import Board, Countdown
from brownout.show.live.files import RunFiles
from brownout.show.live.screen import screen_for

if TYPE_CHECKING:
    from brownout.measure.baseline import Baseline

__all__ = ["Status"]

logger = logging.getLogger("chaostoolkit")


class Status:
    """The state of the run as people see it, shown until `stop`; callable from any thread.

    `directory` is to be set once the run has one; `broken` to what says which nodes are broken.
    `title` stands above until the run's own record says what it is.
    """

    def __init__(self, stream: TextIO | None = None, title: str = "") -> None:
        self._title = title
        self.broken: Callable[[], Mapping[str, str]] = dict
        self.directory: Path | None = None
        self._files: RunFiles | None = None
        self._lock = threading.Lock()
        self._phase, self._detail = "starting", ""
        self._progress: tuple[int, int] | None = None
        self._wait: tuple[float, float] | None = None
        self._series = LiveSeries()
        self._causes: dict[str, int] = {}
        self._percentiles: tuple[float | None, float | None] = (None, None)
        self._screen = screen_for(stream or sys.stderr, self.board)

    @property
    def phase(self) -> str:
        """What the run is doing now, in a few words."""
        return self._phase

    @phase.setter
    def phase(self, words: str) -> None:
        with self._lock:
            self._phase, self._detail, self._progress, self._wait = words, "", None, None
        self._screen.phase_changed()

    def until(self, limit_s: float) -> None:
        """Say that this phase is given up after `limit_s` seconds."""
        with self._lock:
            self._wait = time.monotonic(), limit_s

    def say(self, detail: str) -> None:
        """Say more of the phase."""
        with self._lock:
            self._detail, self._progress = detail, None

    def progress(self, what: str, done: int, total: int) -> None:
        """Say how far a long step is."""
        with self._lock:
            self._detail, self._progress = f"{what} {done:,} of {total:,}", (done, total)

    def waiting_for(self, baseline: "Baseline | None") -> None:
        """Say which tests of stability still fail."""
        if baseline is not None:
            failed = [test.name for test in baseline.tests if not test.ok]
            self.say(f"not yet: {', '.join(failed)}")

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take a live event of the generator."""
        self._series.feed(event)
        with self._lock:
            for cause, n in (event.get("causes") or {}).items():
                self._causes[cause] = self._causes.get(cause, 0) + n
            self._percentiles = _ms(event.get("p50_us")), _ms(event.get("p99_us"))

    def board(self) -> Board:
        """Return the picture of this moment."""
        files = self._run_files()
        record, events = (files.record(), files.events()) if files else ({}, ())
        series, broken = self._series.snapshot(), self.broken()
        with self._lock:
            facts = RunFacts(
                title=self._title,
                record=record,
                events=events,
                series=series,
                causes=dict(self._causes),
                percentiles_ms=self._percentiles,
                phase=self._phase,
                detail=self._detail,
                progress=self._progress,
                countdown=self._countdown(),
                broken=broken,
            )
        return compose(facts)

    def start(self) -> None:
        """Begin to show it."""
        self._screen.start()

    def stop(self) -> None:
        """Stop showing it and leave the terminal clean. Safe to repeat."""
        self._screen.stop()

    def _run_files(self) -> RunFiles | None:
        if self._files is None and self.directory is not None:
            self._files = RunFiles(self.directory)
        return self._files

    def _countdown(self) -> Countdown | None:
        if self._wait is None:
            return None
        since, limit = self._wait
        return Countdown(time.monotonic() - since, limit)


def _ms(micros: float | None) -> float | None:
    return None if micros is None else micros / 1000
