"""Limit how fast a node may use its disk, as a volume whose burst credit is spent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import disk_limit
from brownout.machine.host import Host, Proof
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["LimitDisk", "UnlimitDisk"]

_MIB_PER_S = 1.0


class _OfItsDisk(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its disk cannot be limited; empty if it can."""
        return disk_limit.why_not(node, host)


class LimitDisk(_OfItsDisk, NodeFault):
    """Let `node` read, and write, `mib_per_s` and `iops` of its disk. Undone by `unlimit_disk`.

    0 sets none of that kind. By its control group, or its systemd service: nothing else that uses
    the disk is limited. The node undoes it by itself after `undo_after_s` seconds, even if this run
    has died: choose it longer than the fault that is meant. 0 takes the inventory's, which is 120
    unless it says otherwise.
    """

    name, act, words = "limit_disk", "disk_limit", "left with a limited disk"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"mib_per_s": (0.05, 1)}
    undo_name = "unlimit_disk"
    variables: ClassVar[Mapping[str, str]] = {
        "mib_per_s": "how many MiB a second the node may read, and write, of its disk; 0 for any",
        "iops": "how many reads, and writes, of its disk it may make in a second; 0 for any",
        "limited_s": "seconds for which it may not do more",
    }

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories whose disks are limited."""
        return adapter.data_directories(node)

    def why_not_now(
        self, faults: "Faults", node: Node, mib_per_s: float = _MIB_PER_S, iops: int = 0,
        **others: object,
    ) -> list[str]:  # fmt: skip
        """Return why the disk of its data cannot be limited."""
        disk_limit.check_size(mib_per_s, iops)
        data = self.directories(faults.adapter, node)
        return disk_limit.why_not_now(node, faults.host(node), data)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by what it would be limited."""
        mib_per_s = float(arguments.get("mib_per_s", _MIB_PER_S))
        data = self.directories(adapter, node)
        return disk_limit.plan(node, host, data, mib_per_s, int(arguments.get("iops", 0)))

    def do(
        self, faults: "Faults", node: Node, mib_per_s: float = _MIB_PER_S, iops: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:  # fmt: skip
        """Limit it; proven by reading the limit back."""
        data, host = self.directories(faults.adapter, node), faults.host(node)
        return disk_limit.limit(node, host, data, mib_per_s, iops, undo_after_s or None)


class UnlimitDisk(_OfItsDisk, NodeUndo):
    """Let `node` use its disk as before. Does nothing to a node whose disk is not limited."""

    name, act, words = "unlimit_disk", "disk_unlimited", "given its disk's throughput back"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be taken away."""
        return f"{host.shell().runner.where}: take the limit of its disk away"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the limit away; a node that has used none of its disk meanwhile was not limited."""
        proof = disk_limit.undo_on(node, faults.host(node))
        seen = proof.evidence
        if not (proof.already or seen.get("read_bytes") or seen.get("written_bytes")):
            detail = f"node `{node.name}` used nothing of the disk that `limit_disk` limits"
            faults.breach(contract.DATA, detail, node.name)
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """The node has a limit of ours."""
        return bool(disk_limit.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The node has the very limit that it was given."""
        mib_per_s, iops, disks = proof["mib_per_s"], proof["iops"], proof["disks"]
        wanted = {disk_limit.in_words(mib_per_s, iops, disk) for disk in disks}
        return wanted <= {*disk_limit.left_on(node, host).split("; ")}
