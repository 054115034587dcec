"""A running load generator: start it, tell it what to do, watch what it does.

generator = Generator(directory, on_live=status.feed)
generator.open(spec)              connect; nothing is written yet
generator.load(progress)          the data set
generator.start()                 the schedule begins, `now()` counts from here
…
generator.stop()                  in-flight operations end, files are closed
generator.verify(progress)        the ledger is read back
generator.close()                 always: the process is gone afterwards
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final, Self

from brownout.base.errors import GeneratorError
from brownout.base.files import private_directory
from brownout.load.channel import Channel, Event
from brownout.load.clock import GeneratorClock
from brownout.load.place import Here, Place
from brownout.run.series import LiveSeries

__all__ = ["Generator"]

Progress = Callable[[int, int], None]

#: For connecting; the driver itself gives up first and says why.
_OPEN_S: Final = 60.0
#: Without any sign of progress during a load or a read-back.
_SILENCE_S: Final = 120.0
#: For its metrics: who scrapes waits for them.
_METRICS_S: Final = 2.0
#: For one answer that costs nothing.
_ANSWER_S: Final = 10.0
#: How often the clocks are compared while the load runs, and how often before it.
_PING_EVERY_S: Final = 5.0
_FIRST_PINGS: Final = 8


class Generator:
    """One load generator process, from its start to its end. Methods are called from one thread;
    `live`, `alive`, `now` and `to_t` may be used from any.

    `live` is the series so far; `on_live`, if given, also gets each live event. `place` is where
    it runs, by default here.
    """

    def __init__(
        self,
        directory: Path,
        on_live: Callable[[Mapping[str, Any]], None] | None = None,
        place: Place | None = None,
    ) -> None:
        self.live = LiveSeries()
        #: What the generator said when it had stopped; the same as `generator.json`.
        self.stopped: Mapping[str, Any] = {}
        self._on_live = on_live
        self._clock = GeneratorClock()
        #: Of the seconds since its process began: before the start there is no other clock.
        self._up = GeneratorClock()
        #: When it last said anything, by `time.monotonic()`.
        self.heard = time.monotonic()
        self._pings: dict[int, float] = {}
        self._next_ping = 0
        self._pinged = 0.0
        self._answered = threading.Event()
        self._drain_s = 0.0
        self._loads = True
        self._shown, self._asking = "", threading.Lock()
        self._answers: Queue[Event] = Queue()
        self._place = place or Here()
        self._collected = True
        private_directory(directory)
        log = directory / "generator.log"
        try:
            self._channel = Channel(self._place.command(), log, self._take, self._place.start)
        except BaseException:
            self._place.leave()
            raise
        try:
            self.version = str(self._channel.await_event(("ready",), _ANSWER_S)["version"])
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process id of the generator."""
        return self._channel.pid

    @property
    def alive(self) -> bool:
        """Whether the generator runs and talks to us."""
        return self._channel.alive

    def obituary(self) -> str:
        """Say how it ended, once it is not alive any more."""
        return self._channel.obituary()

    def open(self, spec: Mapping[str, Any]) -> None:
        """Connect as `spec` says. Raises `GeneratorError` with what the driver says."""
        streams = spec["streams"]
        self.live = LiveSeries(s["name"] for s in streams if s.get("concurrency"))
        self._drain_s = max((float(s.get("deadline_s") or 1.0) for s in streams), default=1.0)
        self._loads = bool(spec["data"]["load"])
        self._channel.send({"cmd": "open", "spec": self._place.settle(spec)})
        self._collected = False
        self._channel.await_event(("opened",), _OPEN_S)

    def load(self, progress: Progress | None = None, step: str = "") -> Mapping[str, Any]:
        """Write the data set, unless the workload says that it is there already.

        `progress` gets records done and in all; `step` is the part of it that is to be done, where
        several load one together (`begin`, `fill`, `end`). Returns keys and seconds.
        """
        if not self._loads:
            return {"keys": 0, "seconds": 0.0}
        self._channel.send({"cmd": "load", "step": step})
        return self._await_progress("loading", "loaded", progress)

    def start(self, at: float | None = None) -> float:
        """Begin the schedule, soon or `at` a moment of `time.monotonic()`; compare the clocks.

        Returns how many seconds after its moment it began. Before a start at a moment the clocks
        have to have been compared. Raises `GeneratorError`, also for a moment that is past there.
        """
        command: dict[str, Any] = {"cmd": "start"}
        within = _ANSWER_S
        if at is not None:
            command["at"] = self._up.to_t(at)
            within += max(0.0, at - time.monotonic())
        self._channel.send(command)
        started = self._channel.await_event(("started",), within)
        self.compare_clocks()
        return float(started["late_s"])

    def compare_clocks(self) -> float:
        """Ask for its clocks some times; return by how many seconds we may be off at best."""
        for _ in range(_FIRST_PINGS):
            self._answered.clear()
            self._ping()
            if not self._answered.wait(_ANSWER_S):
                raise GeneratorError("the load generator does not answer with its clock")
        return self._up.uncertainty(time.monotonic()) or 0.0

    def now(self) -> float | None:
        """Return seconds since the start of the schedule; None before it."""
        return self._clock.to_t(time.monotonic())

    def to_t(self, monotonic: float) -> float | None:
        """Return the generator's `t` of a moment of `time.monotonic()`; None before the start."""
        return self._clock.to_t(monotonic)

    @property
    def clock_uncertainty(self) -> float | None:
        """By how many seconds `now` and `to_t` may be off; None before the start."""
        return self._clock.uncertainty(time.monotonic())

    @property
    def clock_jump_s(self) -> float:
        """By how many seconds its clock jumped against ours; 0 where it did not."""
        return self._clock.jump_s

    def metrics(self) -> str:
        """Return its metrics in Prometheus's text format; the last ones where it has ended.

        Empty before there is a load. May be called from any thread.
        """
        with self._asking, contextlib.suppress(GeneratorError, Empty):
            wanted = str(time.monotonic_ns())
            self._channel.send({"cmd": "metrics", "id": wanted})
            while (answer := self._answers.get(timeout=_METRICS_S))["id"] != wanted:
                continue  # a late one of an earlier question
            self._shown = str(answer["text"] or "")
        return self._shown

    def stop(self) -> Mapping[str, Any]:
        """End the schedule, let what is in flight end, and return what `generator.json` says.

        Repeating it returns the same again.
        """
        if not self.stopped:
            self._channel.send({"cmd": "stop"})
            self.stopped = self._channel.await_event(("stopped",), self._drain_s + _OPEN_S)
            self._collect()
        return self.stopped

    def verify(self, progress: Progress | None = None, copies: bool = False) -> Mapping[str, Any]:
        """Read every verified key back, after `stop`. Returns keys, read and unread.

        With `copies` it first compares what every server has stored, where the driver can ask.
        """
        self._channel.send({"cmd": "verify", "copies": copies})
        self._collected = False
        verified = self._await_progress("verifying", "verified", progress)
        self._collect()
        return verified

    def give_up(self) -> None:
        """End what it does now, as `verify` in another thread, which then raises."""
        self._channel.terminate()

    def clean(self) -> None:
        """Remove from the database what the load made, and nothing else."""
        self._channel.send({"cmd": "clean"})
        self._channel.await_event(("cleaned",), _SILENCE_S)

    def close(self) -> None:
        """End the process whatever state it is in, and have its files here. Safe to repeat."""
        if self.alive:
            self.metrics()  # what is asked for later is its last word
        self._channel.close({"cmd": "exit"})
        if not self._collected:
            self._collect()
        self._place.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _collect(self) -> None:
        self._place.collect(self.clock_uncertainty)
        self._collected = True

    def _await_progress(self, step: str, done: str, progress: Progress | None) -> Event:
        while True:
            event = self._channel.await_event((step, done), _SILENCE_S)
            if event["event"] == done:
                return event
            if progress is not None:
                progress(int(event["done"]), int(event["total"]))

    def _ping(self) -> None:
        self._next_ping += 1
        self._pinged = time.monotonic()
        self._pings[self._next_ping] = self._pinged
        self._channel.send({"cmd": "clock", "id": self._next_ping})

    def _take(self, event: Event, received: float) -> bool:
        """Take events that no caller awaits: live figures and the clock. In the reader thread."""
        self.heard = received
        kind = event.get("event")
        if kind == "clock":
            self._take_clock(event, received)
            return True
        if kind == "metrics":
            self._answers.put(event)
            return True
        if kind != "live":
            return False
        self.live.feed(event)
        if self._on_live is not None:
            self._on_live(event)
        if received - self._pinged > _PING_EVERY_S:
            self._ping()
        return True

    def _take_clock(self, event: Event, received: float) -> None:
        sent = self._pings.pop(int(event["id"]), None)
        for clock, name in ((self._up, "up"), (self._clock, "t")):
            if sent is not None and event[name] is not None:
                clock.add(sent, received, float(event[name]))
        self._answered.set()
