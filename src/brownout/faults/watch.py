"""Whether a fault lasts until its undo: its cause is looked at from a thread, once a second.

    proof ──▶ look ──▶ look ──▶ … ──▶ the undo begins: the watch ends, and says what it saw
                         └─ not there any more, twice: `ended`, between the last yes and this no

A look that gets no answer says nothing. What is looked at is the cause, as its proof was: the
process is stopped, or gone; the rules are there.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.faults.act import PendingUndo
from brownout.machine.host import Proof
from brownout.run import contract
from brownout.run.contract import Breach
from brownout.run.events import EventLog

__all__ = ["EVERY_S", "Lasted", "Watch", "Watches"]

logger = logging.getLogger("chaostoolkit")

EVERY_S = 0.8
#: A look that says no is taken again before it is believed.
_AGAIN_S = 0.05
#: A switch is armed before its fault takes effect, so it may end it a little sooner.
_SWITCH_EARLY_S = 1.0

#: Answers whether the fault is in place; None where that cannot be told.
Look = Callable[[], bool | None]


@dataclass(frozen=True, slots=True)
class Lasted:
    """What was seen of one fault while it lasted, in monotonic seconds.

    `last_yes` is when it was last known to be in place, `first_no` when it was seen not to be; None
    if it never was. With no `looks` nothing is known of it.
    """

    looks: int
    last_yes: float
    first_no: float | None = None


class Watch:
    """Looks at one fault, which was proven at `since`, from now until `stop`.

    `ended` is called once, from the watch's thread, where the fault is over before that.
    """

    def __init__(self, look: Look, since: float, ended: Callable[[Lasted], None]) -> None:
        self._look, self._ended = look, ended
        self._over, self._lock = threading.Event(), threading.Lock()
        self._lasted = Lasted(0, since)
        threading.Thread(target=self._watch, name="fault", daemon=True).start()

    def stop(self) -> Lasted:
        """End the watch; return what it saw. A look that is under way no longer counts."""
        with self._lock:
            self._over.set()
            return self._lasted

    def _watch(self) -> None:
        doubt: float | None = None  # when a look said no that is not confirmed
        while not self._over.is_set():
            asked = time.monotonic()
            there = self._answer()
            if not self._take(asked, there, doubt):
                return
            if there is False:
                doubt = doubt or time.monotonic()
            elif there:
                doubt = None
            wait_s = _AGAIN_S if there is False else asked + EVERY_S - time.monotonic()
            self._over.wait(max(0.0, wait_s))

    def _answer(self) -> bool | None:
        try:
            return self._look()
        except (BrownoutError, OSError):  # OSError: this machine lets us do nothing now
            return None

    def _take(self, asked: float, there: bool | None, doubt: float | None) -> bool:
        """Note one look; return whether to continue."""
        with self._lock:
            if self._over.is_set():
                return False
            seen = self._lasted
            if there is not None:
                last_yes = max(seen.last_yes, asked) if there else seen.last_yes
                self._lasted = Lasted(seen.looks + 1, last_yes)
            if there is not False or doubt is None:
                return True
            self._lasted = Lasted(seen.looks + 1, seen.last_yes, doubt)
        self._ended(self._lasted)
        return False


@dataclass(frozen=True, slots=True)
class _Watched:
    """A fault that is watched: its event, when it was proven, and the limit of its own switch."""

    entry: int
    fault: str
    undo: PendingUndo
    since: float
    switch_s: float | None
    watch: Watch | None = None


class Watches:
    """The watches of the faults of one run; writes down which of them ended before their undo.

    `to_t` turns monotonic seconds into those of the run. That a fault ends early breaks its
    contract, unless `allowed`.
    """

    def __init__(
        self, events: EventLog, to_t: Callable[[float], float | None], allowed: bool = False
    ) -> None:
        self._events, self._to_t, self._allowed = events, to_t, allowed
        self._lock = threading.Lock()
        self._watched: dict[PendingUndo, _Watched] = {}
        self._over: list[PendingUndo] = []
        #: What was seen of each fault whose undo has begun, by the undo's name and node.
        self._ending: dict[tuple[str, str | None], tuple[_Watched, Lasted]] = {}

    def is_over(self, undo: PendingUndo) -> bool:
        """Return whether the fault that `undo` is to undo has ended by itself."""
        with self._lock:
            return undo in self._over

    def begin(self, undo: PendingUndo, entry: int, fault: str, proof: Proof, look: Look) -> None:
        """Watch the fault of the event `entry` until `undo` begins; safe to repeat."""
        switch_s = proof.evidence.get("undo_after_s")
        watched = _Watched(entry, fault, undo, proof.effective_monotonic, switch_s)
        with self._lock:
            if undo in self._watched:
                return
            watch = Watch(look, watched.since, lambda lasted: self._ended(watched, lasted))
            self._watched[undo] = replace(watched, watch=watch)

    def keep(self, pending: Sequence[PendingUndo]) -> None:
        """End the watches of what is no longer pending: another fault took its place."""
        with self._lock:
            gone = [undo for undo in self._watched if undo not in pending]
            watches = [self._watched.pop(undo).watch for undo in gone]
            self._over = [undo for undo in self._over if undo in pending]
        for watch in watches:
            _stopped(watch)

    def undo_begins(self, node: str | None, action: str) -> None:
        """End the watch on `node` of the fault that `action` undoes, or every one if none is.

        What is seen of them from now on is our own doing. Other faults of the node still last.
        """
        with self._lock:
            mine = [each for each in self._watched.values() if each.undo.node == node]
            own = [each for each in mine if each.undo.action == action]
            for each in own or mine:
                del self._watched[each.undo]
        if not own:
            self._ending = {key: seen for key, seen in self._ending.items() if key[1] != node}
        for each in own or mine:
            self._ending[(each.undo.action, node)] = each, _stopped(each.watch)

    def undone(self, action: str, node: str | None, proof: Proof) -> dict[str, Any]:
        """Return what was seen of the fault that `action` has undone, for the undo's evidence.

        An undo that had nothing to do is the last look: the fault had ended before it.
        """
        each, lasted = self._ending.pop((action, node), (None, None))
        if each is None or lasted is None or not lasted.looks:
            return {}
        if proof.already and lasted.first_no is None:
            lasted = replace(lasted, first_no=proof.effective_monotonic)
            self._ended(each, lasted)
        return {"watched": {"looks": lasted.looks, "until_undo": lasted.first_no is None}}

    def _ended(self, each: _Watched, lasted: Lasted) -> None:
        """Write that a fault is over before its undo has begun."""
        with self._lock:
            self._over.append(each.undo)
        least = max(0.0, lasted.last_yes - each.since)
        most = max(0.0, (lasted.first_no or lasted.last_yes) - each.since)
        node = f" of {each.undo.node}" if each.undo.node else ""
        detail = (
            f"{each.fault}{node} ended by itself {least:.1f} to {most:.1f} s after it took effect, "
            f"before {each.undo.action}: {_cause(each.switch_s, most)}"
        )
        logger.warning(detail)
        last_seen, first_not = self._to_t(lasted.last_yes), self._to_t(lasted.first_no or 0.0)
        self._events.ended(each.entry, first_not, contract.lasted(least, most))
        contract.write(
            self._events,
            Breach(
                contract.DURATION, detail, each.undo.node, last_seen, first_not, each.entry,
                self._allowed,
            ),
        )  # fmt: skip


def _stopped(watch: Watch | None) -> Lasted:
    return Lasted(0, 0.0) if watch is None else watch.stop()


def _cause(switch_s: float | None, most: float) -> str:
    """Say what ended it: its own switch, where that had run out, or something else."""
    if switch_s is not None and most >= switch_s - _SWITCH_EARLY_S:
        return f"its own switch (`undo_after_s`) had run out after {switch_s:g} s"
    return "something else than this run undid it"
