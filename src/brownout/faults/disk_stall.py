"""Stall a node's disk: every write waits, and the node may look well all the while."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import BrownoutError
from brownout.base.files import user_state
from brownout.databases.adapter import Adapter
from brownout.faults.act import DISK, Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory import labs
from brownout.inventory.model import Node
from brownout.machine import stall
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["StallDisk", "ThawDisk", "kept", "ours"]


class StallDisk(NodeFault):
    """Stall the disk of `node`: writes to its data wait, and reads continue. Undone by `thaw_disk`.

    The file systems that hold its data are frozen (fsfreeze). They must hold nothing else that is
    in use. The node thaws them by itself after `undo_after_s` seconds, even if this run has died:
    choose it longer than the stall that is meant. 0 takes the inventory's, which is 120 unless it
    says otherwise.
    """

    name, act, words, undo_name = (
        "stall_disk",
        "disk_stall",
        "left with a stalled disk",
        "thaw_disk",
    )
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    variables: ClassVar[Mapping[str, str]] = {
        "stalled_s": "seconds for which writes to its disk wait",
    }

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its disk cannot be stalled; empty if it can."""
        return stall.why_not(node, host)

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories whose file systems are frozen."""
        return adapter.data_directories(node)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be frozen."""
        return stall.plan(node, host, self.directories(adapter, node), ours())

    def why_not_now(self, faults: "Faults", node: Node, **arguments: Any) -> list[str]:
        """Return what else lies on the disk."""
        data = self.directories(faults.adapter, node)
        return stall.why_not_now(node, faults.host(node), data, kept(faults, node))

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Freeze them; proven by a write that does not come back."""
        data, keep = self.directories(faults.adapter, node), kept(faults, node)
        return stall.stall(node, faults.host(node), data, keep, undo_after_s or None)


class ThawDisk(NodeUndo):
    """Thaw the disk of `node`. Does nothing to one that is not stalled."""

    name, act, words = "thaw_disk", "disk_thaw", "given its disk back"
    rank, marked = DISK, True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be thawed."""
        return stall.plan(node, host, None)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Thaw it; proven when the writes that waited are through."""
        return stall.undo_on(node, faults.host(node))

    def is_due(self, node: Node, host: Host) -> bool:
        """The node has a disk that we stalled."""
        return bool(stall.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """A write still waits on each file system that was frozen."""
        left = stall.left_on(node, host)
        return bool(left) and "thawed" not in left


def ours() -> list[Path]:
    """Return what of ours must not lie on a disk that is frozen: it has to work meanwhile."""
    return [Path(sys.prefix), Path(sys.base_prefix), Path.cwd(), user_state(), labs.root()]


def kept(faults: "Faults", node: Node) -> list[Path]:
    """Return what is not the node's: ours, the run, and the data of other nodes of its machine."""
    host, kept = faults.host(node), [*ours(), faults.directory]
    for other in faults.cluster.every:
        with suppress(BrownoutError):
            if other != node and faults.host(other).machine == host.machine:
                kept += faults.adapter.data_directories(other)
    return kept
