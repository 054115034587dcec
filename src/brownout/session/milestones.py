"""Watch the cluster after a fault: it changed, every member rejoined, redundancy is back.

A milestone counts only after the state was seen to change: health checks lie just after a fault
(survivors of a kill call themselves whole until their failure detection fires). And it counts only
where it lasts: a member was SECONDARY for a second, and then in ROLLBACK for 210.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Milestone, MilestoneState

__all__ = ["Crossing", "Looks", "MilestoneWatcher"]

POLL_S = 0.1
#: Once all is reached, it is enough to look now and then whether it stays.
CALM_POLL_S = 0.5
#: After everything is undone, this long without a change means that the cluster never noticed.
UNNOTICED_S = 6.0
ORDER: tuple[Milestone, ...] = ("rejoined", "redundant")


@dataclass(frozen=True, slots=True)
class Crossing:
    """Between which two looks a milestone was reached; monotonic seconds, None = not (yet)."""

    name: str
    last_no: float | None = None
    first_yes: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class Looks:
    """What one look after the other says of a milestone.

    It is reached at the first look of an unbroken row that says yes for `hold_s` seconds, and a
    later no revokes it. A look without an answer (None) breaks the row, but is not a no: it revokes
    nothing.
    """

    def __init__(self, name: str, hold_s: float) -> None:
        self.crossing = Crossing(name)
        self._hold_s = hold_s
        self._row: Crossing | None = None

    @property
    def reached(self) -> bool:
        """Whether it is reached now."""
        return self.crossing.first_yes is not None

    @property
    def undecided(self) -> bool:
        """Whether the latest looks said yes, but not yet for long enough."""
        return self._row is not None and not self.reached

    def look(self, asked: float, answered: float, yes: bool | None, detail: dict[str, Any]) -> bool:
        """Take one look; return whether the milestone was reached or revoked by it."""
        before, name = self.crossing, self.crossing.name
        if yes:
            if self._row is None:
                self._row = Crossing(name, before.last_no, answered, detail)
            since = self._row.first_yes or 0.0
            if self.reached or answered - since < self._hold_s:
                return False
            self.crossing = self._row
            return True
        self._row = None
        if yes is None:
            return False
        self.crossing = Crossing(name, last_no=asked)
        return before.first_yes is not None


class Course:
    """What all looks at a cluster say of all milestones since the latest fault."""

    def __init__(self, hold_s: float) -> None:
        self._looks: dict[str, Looks] = {name: Looks(name, hold_s) for name in ORDER}
        self._looks["changed"] = Looks("changed", 0.0)  # a change is an event, and need not last

    def __getitem__(self, name: str) -> Looks:
        return self._looks[name]

    def take(
        self, name: str, asked: float, answered: float, yes: bool | None, detail: dict[str, Any]
    ) -> list[Crossing]:
        """Take one look; return the milestones that were reached or revoked by it.

        Each milestone includes the ones before it: a yes is one of theirs, too, and at the end of a
        row it may be the only look at that moment.
        """
        names = ORDER[: ORDER.index(name) + 1] if yes and name in ORDER else (name,)
        changed = [each for each in names if self[each].look(asked, answered, yes, detail)]
        return [self[each].crossing for each in changed]

    def adopt(self, other: "Course") -> list[Crossing]:
        """Take over all that `other` says of the ends; return the milestones that it reached."""
        for name in ORDER:
            self._looks[name] = other[name]
        return [self[name].crossing for name in ORDER if self[name].reached]


class MilestoneWatcher:
    """Polls one cluster from a thread of its own, from the first break until `stop`.

    `report` is called with each milestone that is reached, and, without `first_yes`, with each
    that is revoked. While it `is_blind`, a node is cut off from us as from every client, so its
    silence is not a change of the cluster.
    """

    def __init__(
        self,
        adapter: Adapter,
        is_mended: Callable[[], bool],
        report: Callable[[Crossing], None],
        hold_s: float,
        is_blind: Callable[[], bool] = lambda: False,
    ) -> None:
        self._adapter, self._is_blind = adapter, is_blind
        self._is_mended = is_mended
        self._report = report
        self._hold_s = hold_s
        self._before = ""
        self._stop = threading.Event()
        self._course: Course | None = None
        self._unchanged: Course | None = None  # the looks that count if no change ever comes
        self._unnoticed = False
        self._thread: threading.Thread | None = None

    def arm(self) -> None:
        """Note the cluster's state before the fault; call it just before the first break."""
        self.stop()
        self._before = self._adapter.signature()
        self._unnoticed = False
        self._course, self._unchanged = Course(self._hold_s), Course(self._hold_s)

    def start(self) -> None:
        """Begin to poll; safe to call again while polling."""
        if not self.watching:
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

    def crossing(self, name: str) -> Crossing:
        """Return where milestone `name` stands now."""
        return self._course[name].crossing if self._course else Crossing(name)

    def passed(self, name: str) -> bool:
        """Whether `name` needs no more waiting: reached, or the cluster never noticed the fault."""
        unnoticed = name == "changed" and self._unnoticed
        return unnoticed or self.crossing(name).first_yes is not None

    def wait(
        self, name: str, timeout_s: float, stopped: Callable[[], bool] = lambda: False
    ) -> Crossing:
        """Wait until milestone `name` is reached; the crossing says whether it was.

        A row of looks that says yes at the end of the time is waited for until it is decided. The
        wait also ends when the polling does, and when it is `stopped`.
        """
        deadline = time.monotonic() + timeout_s

        def look() -> Crossing | None:
            if self._course and not self.passed(name):
                over = time.monotonic() >= deadline and not self._course[name].undecided
                return self.crossing(name) if over else None
            return self.crossing(name)

        crossing = wait_until(
            look,
            every_s=POLL_S,
            stopped=lambda: stopped() or not self.watching or self._stop.is_set(),
            pause=self._stop.wait,
        )
        return crossing or self.crossing(name)

    def _watch(self) -> None:
        mended_at: float | None = None
        while not self._stop.is_set():
            if not self._is_mended():  # so far, as between our start and the break
                mended_at = None
            elif mended_at is None:
                mended_at = time.monotonic()
            changed = self._look_for_change(mended_at)
            self._look_at_milestones(self._course if changed else self._unchanged)
            calm = changed and all(self.passed(name) for name in ORDER)
            self._stop.wait(CALM_POLL_S if calm else POLL_S)

    def _look_for_change(self, mended_at: float | None) -> bool:
        """Whether the cluster was seen to change, or had its time to and did not."""
        if self.passed("changed"):
            return True
        asked, blind = time.monotonic(), self._is_blind()
        signature = self._ask(self._adapter.signature)
        if blind or self._is_blind():
            return False
        changed = signature is not None and signature != self._before
        self._take(
            self._course, "changed", asked, changed, {"before": self._before, "after": signature}
        )
        if not changed and mended_at is not None:
            self._unnoticed = time.monotonic() - mended_at > UNNOTICED_S
            if self._unnoticed and self._course and self._unchanged:
                for crossing in self._course.adopt(self._unchanged):
                    self._report(crossing)
        return self.passed("changed")

    def _look_at_milestones(self, course: Course | None) -> None:
        """Ask for each milestone in turn; each includes the one before it.

        While something is still broken it is not asked for: the answer would be a no. Looks before
        a change count only if no change comes: then nothing was away, from the first look after the
        mend on.
        """
        yes: bool | None = self._is_mended()
        for name in ORDER:
            asked = time.monotonic()
            detail: dict[str, Any] = {}
            if yes:
                state: MilestoneState | None = self._ask(partial(self._adapter.stable, name))
                yes = None if state is None or state.unknown else state.reached
                detail = dict(state.detail) if state else {}
            self._take(course, name, asked, yes, detail)

    def _take(
        self, course: Course | None, name: str, asked: float, yes: bool | None,
        detail: dict[str, Any],
    ) -> None:  # fmt: skip
        if course is not None:
            for crossing in course.take(name, asked, time.monotonic(), yes, detail):
                if course is self._course:
                    self._report(crossing)

    @staticmethod
    def _ask(question: Callable[[], Any]) -> Any | None:
        """Ask; None where the cluster cannot answer."""
        try:
            return question()
        except (BrownoutError, OSError):  # OSError: this machine lets us do nothing now
            return None
