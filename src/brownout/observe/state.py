"""What is known of a run at one moment, as its metrics tell it: plain data, and what it means."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brownout.faults import undos
from brownout.measure.impact import Impact
from brownout.show.live.board import Board

if TYPE_CHECKING:
    from brownout.run.events import Event

__all__ = ["PHASES", "VERDICTS", "Fault", "RunState"]

#: A run's phases in their order, and the event that begins each; opening begins by itself.
PHASES = {
    "opening": "",
    "warmup": "load_started",
    "baseline": "baseline_accepted",
    "method": "method_started",
    "recovery": "method_ended",
    "readback": "load_stopped",
    "put_back": "put_back",
    "judged": "",
}
VERDICTS = ("pending", "pass", "fail", "inconclusive", "aborted")


@dataclass(frozen=True, slots=True)
class Fault:
    """One break of one node: since when, until when, in seconds of the run; None = not (yet)."""

    name: str
    node: str
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class RunState:
    """One moment of a run. `started_at` is t = 0 in Unix time, None before the load runs.

    `record` is run.json; `impact` is None until the run is judged.
    """

    record: Mapping[str, Any]
    board: Board = field(default_factory=Board)
    events: Sequence["Event"] = ()
    started_at: float | None = None
    impact: Impact | None = None

    @property
    def phase(self) -> str:
        """Which of `PHASES` the run is in."""
        if self.impact is not None:
            return "judged"
        seen = {event.name for event in self.events if event.type == "phase"}
        return [name for name, begins in PHASES.items() if not begins or begins in seen][-2]

    @property
    def verdict(self) -> str:
        """Which of `VERDICTS` it has."""
        return "pending" if self.impact is None else self.impact.verdict

    def faults(self) -> Iterator[Fault]:
        """Yield each break that took effect, with the mend of its node that followed."""
        for event in self.events:
            if event.type == "break" and event.effective is not None:
                node = event.node or ""
                yield Fault(event.name, node, event.effective, self._over(event))

    def milestones(self) -> Iterator[tuple[str, float]]:
        """Yield each milestone that is reached, with its moment; one that was revoked is not."""
        reached: dict[str, float] = {}
        for event in self.events:
            if event.type == "milestone" and event.fields.get("first_yes") is not None:
                reached[event.name] = float(event.fields["first_yes"])
            elif event.is_revoked:
                reached.pop(event.name, None)
        yield from reached.items()

    def _over(self, fault: "Event") -> float | None:
        """When a fault was over: at once where its node still serves, else at its mend."""
        undo = str((fault.undo or {}).get("action", ""))
        if undos.serving(undo):
            return fault.ended
        since = fault.effective or 0.0
        for event in self.events:
            its_node = fault.node is not None and event.node == fault.node
            mends = event.type == "mend" and (its_node or event.name == undo)
            if mends and event.effective is not None and event.effective >= since:
                return event.effective
        return None
