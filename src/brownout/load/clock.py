"""The generator's clock as seen from here: its `t` for a moment of our monotonic clock.

A ping that took `rtt` from send to answer bounds the offset to ± rtt / 2, so the quickest of
several is the best; it is replaced as it grows old, because two machines' clocks drift apart.
"""

import threading
from dataclasses import dataclass

__all__ = ["GeneratorClock", "Sample"]

#: Clocks do not drift apart by so many seconds between two pings, so one of them stood still.
_JUMP_S = 0.5
#: Uncertainty that an old sample gains: two quartz clocks differ by some 50 parts in a million.
_DRIFT = 50e-6


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered ping: `offset` is t minus our monotonic clock, both in seconds."""

    offset: float
    rtt: float
    taken: float

    def uncertainty(self, now: float) -> float:
        """Return by how many seconds the offset may be off at monotonic time `now`."""
        return self.rtt / 2 + _DRIFT * max(0.0, now - self.taken)


class GeneratorClock:
    """Keeps the best sample; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._best: Sample | None = None
        #: By how many seconds it jumped in all, to and fro, as when a machine was suspended.
        self.jump_s = 0.0

    def add(self, sent: float, received: float, t: float) -> None:
        """Take the answer to a ping: `t` was read between `sent` and `received`.

        A sample that contradicts the best one replaces it, since that one is wrong by now.
        """
        sample = Sample(t - (sent + received) / 2, received - sent, received)
        with self._lock:
            best = self._best
            if best is None:
                self._best = sample
                return
            moved = abs(sample.offset - best.offset)
            contradicts = moved - best.uncertainty(received) - sample.uncertainty(received)
            if contradicts > _JUMP_S:
                self.jump_s += moved
            if contradicts > 0 or sample.uncertainty(received) <= best.uncertainty(received):
                self._best = sample

    def to_t(self, monotonic: float) -> float | None:
        """Return the generator's `t` at a moment of `time.monotonic()`; None before its start."""
        with self._lock:
            return None if self._best is None else monotonic + self._best.offset

    def uncertainty(self, now: float) -> float | None:
        """Return by how many seconds `to_t` may be off at monotonic time `now`."""
        with self._lock:
            return None if self._best is None else self._best.uncertainty(now)
