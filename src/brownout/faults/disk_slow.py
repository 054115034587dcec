"""Slow the disk under a node: each call that waits for it is held for a while."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter, WaitingForDisk
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import disk_slow
from brownout.machine.host import Host, Proof
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["SlowDisk", "UnslowDisk", "waited_for"]

_LATENCY_MS = 50.0


def waited_for(adapter: Adapter, calls: str) -> str:
    """Return `calls`, or where they are empty those by which the database waits for its disk."""
    if calls:
        return calls
    return adapter.disk_calls() if isinstance(adapter, WaitingForDisk) else "flush"


class _OfCalls(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its calls cannot be delayed; empty if they can."""
        return disk_slow.TRACER.why_not(node, host)


class SlowDisk(_OfCalls, NodeFault):
    """Hold each flush to disk of `node` for `latency_ms`. Undone by `unslow_disk`.

    A tracer (strace) does it: `calls` are `flush` (fsync, fdatasync, sync_file_range, syncfs, sync,
    msync), or `write` for pwrite64, pwritev and pwritev2 as well; empty takes those by which the
    database waits for its disk. io_uring, plain writes and writes to mapped memory are not seen. 0
    ms traces and delays nothing: the control, which shows what the tracer costs. The node undoes it
    by itself after `undo_after_s` seconds, even if this run has died: choose it longer than the
    fault that is meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "slow_disk", "disk_slow", "left with a slow disk"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"latency_ms": (5, 50, 500)}
    undo_name = "unslow_disk"
    variables: ClassVar[Mapping[str, str]] = {
        "latency_ms": "by how much each flush to disk is held, in ms",
        "calls": "what is held: flush, or write for positional writes as well; empty: as its"
        " database waits for its disk",
        "slow_s": "seconds for which they are",
    }

    def why_not_now(
        self, faults: "Faults", node: Node, latency_ms: float = _LATENCY_MS, **others: object
    ) -> list[str]:
        """Return who traces it already."""
        return disk_slow.TRACER.why_not_now(node, faults.host(node))

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which calls are held for how long."""
        latency_ms = float(arguments.get("latency_ms", _LATENCY_MS))
        calls = waited_for(adapter, str(arguments.get("calls", "")))
        disk_slow.check_size(latency_ms, calls)
        held = ", ".join(disk_slow.CALLS[calls])
        return f"{host.shell().runner.where}: strace holds {held} for {latency_ms:g} ms"

    def do(
        self, faults: "Faults", node: Node, latency_ms: float = _LATENCY_MS, calls: str = "",
        undo_after_s: float = 0.0,
    ) -> Proof:  # fmt: skip
        """Trace it; proven by the tracer of every thread."""
        host, calls = faults.host(node), waited_for(faults.adapter, calls)
        return disk_slow.slow(node, host, latency_ms, calls, undo_after_s or None)


class UnslowDisk(_OfCalls, NodeUndo):
    """Let the disk of `node` be as fast as it is. Does nothing to a node that is not slowed."""

    name, act, words = "unslow_disk", "disk_fast", "given its disk's speed back"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what ends."""
        return f"{host.shell().runner.where}: end the strace of its process"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """End the tracer; a fault that no call of the node met was not made."""
        proof = disk_slow.undo_on(node, faults.host(node))
        seen = proof.evidence
        if not (proof.already or seen["calls_hit"] or seen["calls_held"]):
            detail = f"node `{node.name}` made no call that `slow_disk` delays"
            faults.breach(contract.DATA, detail, node.name)
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """A tracer of ours delays its calls."""
        return bool(disk_slow.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The very tracer that was started delays its calls."""
        return bool(disk_slow.TRACER.injected(node, host)[0] == proof.get("tracer"))
