"""One act, and the undo that it leaves pending: what is on disk before anything is done."""

from dataclasses import dataclass, field
from typing import Any

from brownout.machine.host import Proof

__all__ = [
    "DISK",
    "FINISH_WIPE",
    "PROCESS",
    "Act",
    "Evidence",
    "Pending",
    "PendingUndo",
    "evidence_of",
]

Evidence = dict[str, Any]
Pending = tuple["PendingUndo", ...]

#: The rank of what puts a process right: it is stopped or paused, so the later one replaces the
#: earlier one. What is below comes before it, what is above after.
PROCESS = 1
#: The rank of what puts a disk right, before all else: what waits for it can be neither ended nor
#: started, and a wipe does not end.
DISK = -1
#: The undo of a wipe that began and is not proven to be done; its value is the directories.
FINISH_WIPE = "finish_wipe"


@dataclass(frozen=True, slots=True)
class PendingUndo:
    """One undo to be done: `PendingUndo("start_node", "n1")`, `PendingUndo("adjust", None, …, 2)`.

    `action` is the name of an `Undo`, `node` the node or None for the cluster. `setting` tells
    several of one name apart, and `value` is what the undo needs to know.
    """

    action: str
    node: str | None
    setting: str = ""
    value: Any = field(default=None, hash=False)  # plain data, as it stands in an event

    def __post_init__(self) -> None:
        """Raise `ValueError` without a name: what nothing can undo is not left pending."""
        if not self.action:
            raise ValueError(f"the undo of {self.node or 'the cluster'} has no name")

    def event(self) -> dict[str, Any]:
        """Return it as the `undo` of an event."""
        undo = {"action": self.action, "setting": self.setting, "value": self.value}
        return {key: value for key, value in undo.items() if value not in ("", None)}

    def is_for(self, action: str, node: str | None, setting: str = "") -> bool:
        """Return whether doing this resolves it."""
        return (self.action, self.node, self.setting) == (action, node, setting)


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


def evidence_of(proof: Proof) -> Evidence:
    """Return what was seen, ready for JSON."""
    return {**proof.evidence, "skipped": proof.skipped, "already": proof.already}
