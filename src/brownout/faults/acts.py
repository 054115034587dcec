"""Do something to the cluster and write it down: the intent before the act, the proof after it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from brownout.base.errors import BrownoutError, Refused
from brownout.faults.undos import PendingUndo
from brownout.machine.host import Proof
from brownout.run.events import EventLog

__all__ = ["Act", "Acts", "Evidence", "evidence_of"]

Evidence = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Act:
    """One act: its event's type and name, the node, and the undo that it `leaves` pending.

    `type` is `break` for what a fault begins with, `mend` for what ends one, and `change` for
    what alone moves nothing, as the speed of migrations. `node` is None for what is done to the
    cluster as a whole. `setting` tells acts of one name apart, as `PendingUndo.setting` does.
    """

    type: str
    name: str
    node: str | None
    leaves: PendingUndo | None = None
    arguments: dict[str, Any] | None = None
    setting: str = ""


class Acts:
    """What was done in one run. `to_t` turns monotonic seconds into those of the run."""

    def __init__(self, events: EventLog, to_t: Callable[[float], float | None]) -> None:
        self._events, self._to_t = events, to_t
        #: Whether a step of others broke something.
        self.others_broke = False
        self._breaks: set[int] = set()
        self.before_break: Callable[[], None] = lambda: None
        #: Whether a node last said between two monotonic times that it is primary, if it did.
        self.claimed: Callable[[str, float, float], bool | None] = lambda *_: None

    @property
    def broke_something(self) -> bool:
        """Whether a break began that its server or machine did not refuse."""
        return self.others_broke or bool(self._breaks)

    def began(self, name: str, node: str) -> bool:
        """Return whether this run began this on this node, also if it died since."""
        return self._events.tells_of(name, node)

    def intend(self, act: Act) -> int:
        """Write that `act` is about to be done; return its event's id."""
        undo = act.leaves.event() if act.leaves else None
        entry = self._events.intent(
            act.type, act.name, node=act.node, undo=undo, arguments=act.arguments
        )
        if act.type == "break":
            self._breaks.add(entry)
        return entry

    def do(self, entry: int, do: Callable[[], T]) -> T:
        """Do it; where that fails, write why."""
        try:
            return do()
        except Refused as error:
            self._events.refused(entry, str(error))
            self._breaks.discard(entry)
            raise
        except BrownoutError as error:
            self.failed(entry, error)
            raise

    def failed(self, entry: int, error: BrownoutError) -> None:
        """Write why what was intended could not be done."""
        self._events.failed(entry, str(error))

    def takes_effect(self, entry: int, proof: Proof, before: Evidence) -> Evidence:
        """Write that it took effect, when, and what proves it.

        `before` is what was seen of the node right before.
        """
        effective = self._to_t(proof.effective_monotonic)
        evidence = {**before, **evidence_of(proof)}
        self._events.effective(entry, effective, proof.uncertainty_s, evidence)
        return {"effective": effective, "evidence": evidence}

    def ends(self, entry: int, evidence: Mapping[str, Any]) -> None:
        """Write that what took effect before is over now, and what was seen of its end."""
        self._events.ended(entry, evidence=evidence)


def evidence_of(proof: Proof) -> Evidence:
    """Return what was seen, ready for JSON."""
    return {**proof.evidence, "skipped": proof.skipped, "already": proof.already}
