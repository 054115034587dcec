"""Fill the file system that holds a node's data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import DISK
from brownout.faults.disk_stall import kept, ours
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.faults.stop import start_if_ended
from brownout.inventory.model import Node
from brownout.machine import disk_full
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["FillDisk", "FreeDisk"]


class FillDisk(NodeFault):
    """Fill the file system of the data of `node`, but for `leave_mb`. Undone by `free_disk`.

    A file beside the data takes the space; nothing of the node's is touched. Refused where that
    file system holds anything else that is in use. A database may end itself then: the undo starts
    it again. The node removes the file by itself after `undo_after_s` seconds, even if this run has
    died: choose it longer than the fault that is meant. 0 takes the inventory's, which is 120
    unless it says otherwise.
    """

    name, act, words = "fill_disk", "disk_full", "left without disk space"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "free_disk"
    variables: ClassVar[Mapping[str, str]] = {
        "leave_mb": "how many MiB of its disk stay free",
        "full_s": "seconds for which it is full",
    }

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its disk cannot be filled; empty if it can."""
        return disk_full.why_not(node, host)

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories of which the first one's file system is filled."""
        return adapter.data_directories(node)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which file would grow."""
        leave_mb = int(arguments.get("leave_mb", 0))
        return disk_full.plan(node, host, self.directories(adapter, node), ours(), leave_mb)

    def why_not_now(self, faults: "Faults", node: Node, **arguments: Any) -> list[str]:
        """Return what else lies on the disk."""
        data = self.directories(faults.adapter, node)
        return disk_full.why_not_now(node, faults.host(node), data, kept(faults, node))

    def do(
        self, faults: "Faults", node: Node, leave_mb: int = 0, undo_after_s: float = 0.0
    ) -> Proof:
        """Take what is free; proven by what is free then."""
        data, keep = self.directories(faults.adapter, node), kept(faults, node)
        host = faults.host(node)
        return disk_full.fill(node, host, data, keep, leave_mb, undo_after_s or None)


class FreeDisk(NodeUndo):
    """Give `node` its disk space back, and start it if it ended without it."""

    name, act, words = "free_disk", "disk_freed", "given its disk space back"
    rank, marked = DISK, True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which file is removed."""
        return f"{host.shell().runner.where}: remove {disk_full.FILE}, and start it if it ended"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Remove the file; proven when it is gone."""
        proof = disk_full.undo_on(node, faults.host(node))
        started = start_if_ended(faults, node)
        evidence = {**proof.evidence, "started": started}
        return replace(proof, evidence=evidence, already=proof.already and not started)

    def is_due(self, node: Node, host: Host) -> bool:
        """The node's disk has a file of ours."""
        return bool(disk_full.left_on(node, host))
