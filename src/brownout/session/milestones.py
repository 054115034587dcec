"""Watch the cluster after a fault: it changed, every member rejoined, redundancy is back.

A milestone counts only after the state was seen to change: health checks lie just after a fault
(survivors of a kill call themselves whole until their failure detection fires).
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brownout.cluster.adapter import Adapter, Milestone
from brownout.errors import BrownoutError

__all__ = ["Crossing", "MilestoneWatcher"]

POLL_S = 0.1
#: After everything is mended, this long without a change means that the cluster never noticed.
UNNOTICED_S = 6.0
ORDER: tuple[Milestone, ...] = ("rejoined", "redundant")


@dataclass(slots=True)
class Crossing:
    """Between which two polls a milestone was reached; monotonic seconds, None = not (yet)."""

    name: str
    last_no: float | None = None
    first_yes: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class MilestoneWatcher:
    """Polls one cluster from a thread of its own, from the first break until all is redundant."""

    def __init__(
        self,
        adapter: Adapter,
        is_mended: Callable[[], bool],
        report: Callable[[Crossing], None],
    ) -> None:
        self._adapter = adapter
        self._is_mended = is_mended
        self._report = report
        self._before = ""
        self._stop = threading.Event()
        self._reached: dict[str, threading.Event] = {}
        self._thread: threading.Thread | None = None
        self.crossings: dict[str, Crossing] = {}

    def arm(self) -> None:
        """Note the cluster's state before the fault; call it just before the first break."""
        self._before = self._adapter.signature()
        self._reached = {name: threading.Event() for name in ("changed", *ORDER)}
        self.crossings = {name: Crossing(name) for name in ("changed", *ORDER)}

    def start(self) -> None:
        """Begin to poll; safe to call again while polling."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(target=self._watch, name="milestones", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the polling, whatever was reached."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=15.0)

    @property
    def watching(self) -> bool:
        """Whether a fault is being watched now."""
        return self._thread is not None and self._thread.is_alive()

    def passed(self, name: str) -> bool:
        """Whether `name` needs no more waiting: reached, or the cluster never noticed the fault."""
        return name in self._reached and self._reached[name].is_set()

    def wait(self, name: str, timeout_s: float) -> Crossing:
        """Wait until milestone `name` is reached; the crossing says whether it was."""
        if name not in self._reached:
            return Crossing(name)
        self._reached[name].wait(timeout_s)
        return self.crossings[name]

    def _watch(self) -> None:
        mended_at: float | None = None
        while not self._stop.is_set():
            if mended_at is None and self._is_mended():
                mended_at = time.monotonic()
            if self._poll_change(mended_at) and all(self._poll(name) for name in ORDER):
                return
            self._stop.wait(POLL_S)

    def _poll_change(self, mended_at: float | None) -> bool:
        """Whether the cluster was seen to change, or had its time to and did not."""
        crossing = self.crossings["changed"]
        if self._reached["changed"].is_set():
            return True
        asked = time.monotonic()
        signature = self._ask(self._adapter.signature)
        if signature is not None and signature != self._before:
            self._reach(crossing, {"before": self._before, "after": signature})
            return True
        crossing.last_no = asked
        if mended_at is not None and time.monotonic() - mended_at > UNNOTICED_S:
            self._reached["changed"].set()  # no first_yes: it never was
            return True
        return False

    def _poll(self, name: Milestone) -> bool:
        """Whether milestone `name` is reached, asking only where it was not yet."""
        if self._reached[name].is_set():
            return True
        asked = time.monotonic()
        state = self._ask(lambda: self._adapter.stable(name))
        if state is None or not state.reached or not self._is_mended():
            self.crossings[name].last_no = asked
            return False
        self._reach(self.crossings[name], state.detail)
        return True

    def _reach(self, crossing: Crossing, detail: dict[str, Any]) -> None:
        crossing.first_yes, crossing.detail = time.monotonic(), detail
        self._report(crossing)
        self._reached[crossing.name].set()

    @staticmethod
    def _ask(question: Callable[[], Any]) -> Any | None:
        """Ask; a cluster that cannot answer has not reached anything."""
        try:
            return question()
        except BrownoutError:
            return None
