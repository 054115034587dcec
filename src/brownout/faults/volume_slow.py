"""Slow the volume under a node: each read and write of it takes longer, also the kernel's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import DISK, Evidence
from brownout.faults.disk_stall import kept, ours
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import volume_slow
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["SlowVolume", "UnslowVolume"]

_MS = 50


class SlowVolume(NodeFault):
    """Delay each read of the volume of `node` by `read_ms`, and each write and flush by `write_ms`.

    Undone by `unslow_volume`. The file systems of its data must lie on volumes of the device
    mapper, as LVM's, with linear tables, and hold nothing else that is in use; the kernel's `delay`
    target does it. 0 ms is the control. An fsync waits for several writes in turn. The node undoes
    it by itself after `undo_after_s` seconds, even if this run has died: choose it longer than the
    fault that is meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "slow_volume", "volume_slow", "left with a slow volume"
    undo_name = "unslow_volume"
    variables: ClassVar[Mapping[str, str]] = {
        "read_ms": "by how much each read of its volume is delayed, in ms",
        "write_ms": "by how much each write and flush of its volume is delayed, in ms",
    }

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its volume cannot be slowed; empty if it can."""
        return volume_slow.why_not(node, host)

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories whose volumes are slowed."""
        return adapter.data_directories(node)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which volume would be slowed."""
        read_ms, write_ms = (float(arguments.get(each, _MS)) for each in ("read_ms", "write_ms"))
        data = self.directories(adapter, node)
        return volume_slow.plan(node, host, data, read_ms, write_ms, ours())

    def why_not_now(
        self, faults: "Faults", node: Node, read_ms: int = _MS, write_ms: int = _MS,
        **others: object,
    ) -> list[str]:  # fmt: skip
        """Return what else lies on the volume, or has it open."""
        volume_slow.check_size(read_ms, write_ms)
        data = self.directories(faults.adapter, node)
        return volume_slow.why_not_now(node, faults.host(node), data, kept(faults, node))

    def do(
        self, faults: "Faults", node: Node, read_ms: int = _MS, write_ms: int = _MS,
        undo_after_s: float = 0.0,
    ) -> Proof:  # fmt: skip
        """Slow it; proven by its live table, and by a read and a flush that take so long."""
        data, keep = self.directories(faults.adapter, node), kept(faults, node)
        host = faults.host(node)
        return volume_slow.slow(node, host, data, read_ms, write_ms, keep, undo_after_s or None)


class UnslowVolume(NodeUndo):
    """Give the volume of `node` its own table again. Does nothing to one that is not slowed."""

    name, act, words = "unslow_volume", "volume_fast", "given its volume's speed back"
    rank, marked = DISK, True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be given back."""
        return f"{host.shell().runner.where}: dmsetup gives its volume its own table"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Give it back; proven by its live table."""
        return volume_slow.undo_on(node, faults.host(node))

    def is_due(self, node: Node, host: Host) -> bool:
        """The node has a volume that we slowed."""
        return bool(volume_slow.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """Each volume has the very table that it was given."""
        left = volume_slow.left_on(node, host).split("; ")
        figures = volume_slow.in_words(proof["read_ms"], proof["write_ms"])
        return {f"volume {each}: {figures}" for each in proof["volumes"]} <= {*left}
