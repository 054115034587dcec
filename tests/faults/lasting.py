"""A fault that something else than its run ends, on whatever host."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import await_true

from brownout.faults import registry
from brownout.faults.act import PendingUndo, evidence_of
from brownout.faults.watch import Watches
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof
from brownout.run.contract import Breach, breaches
from brownout.run.events import Event, EventLog, read_events

__all__ = ["Lasting", "watched"]

_NODE = Node(name="n1", address="127.0.0.1:1")


@dataclass
class Lasting:
    """A fault that is watched: its undo, what is written of it."""

    watches: Watches
    undo: str
    node: str
    log: Path
    looks: list[bool | None]

    def await_looks(self, number: int) -> None:
        """Wait until it was looked at so often."""
        await_true(lambda: len(self.looks) >= number, f"{number} looks", 30)

    def breach(self) -> Breach:
        """Wait until it is seen to have ended early."""
        await_true(lambda: breaches(read_events(self.log)), "that it ended early", 30)
        (breach,) = breaches(read_events(self.log))
        return breach

    @property
    def event(self) -> Event:
        return read_events(self.log)[0]

    def undone(self, undo: Callable[[], Proof]) -> dict[str, Any]:
        """Undo it; return what the undo says of it."""
        self.watches.undo_begins(self.node, self.undo)
        return self.watches.undone(self.undo, self.node, undo())


def watched(
    host: Host, fault: str, undo: str, proof: Proof, log: Path, node: Node = _NODE
) -> Lasting:
    """Watch a fault of `host`, that of `node`, which has this `proof`."""
    found = registry.undo_named(undo)
    assert found is not None
    events = EventLog(log)
    entry = events.intent("break", fault, node="n1")
    events.effective(entry, proof.effective_monotonic, proof.uncertainty_s)
    watches, seen = Watches(events, lambda t: t), evidence_of(proof)
    looks: list[bool | None] = []

    def look() -> bool | None:
        looks.append(found.is_in_place(node, host, seen))
        return looks[-1]

    watches.begin(PendingUndo(undo, "n1"), entry, fault, proof, look)
    return Lasting(watches, undo, "n1", log, looks)
