"""Have the disk under a node fail: some of the calls that wait for it end with EIO."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.disk_slow import waited_for
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.faults.stop import start_if_ended
from brownout.inventory.model import Node
from brownout.machine import disk_errors
from brownout.machine.host import Host, Proof
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["FailDisk", "MendDisk"]

_PERCENT = 100.0
_FIRST = 1


class _OfCalls(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its calls cannot fail; empty if they can."""
        return disk_errors.TRACER.why_not(node, host)


class FailDisk(_OfCalls, NodeFault):
    """Have `percent` of the flushes to disk of `node` end with EIO. Undone by `mend_disk`.

    A tracer (strace) does it, of each thread from its `first` flush on; `calls` is as for
    `slow_disk`. What fails is not written. A database may end itself then:
    the undo starts it again. The node undoes the errors, though not its own end, after
    `undo_after_s` seconds, even if this run has died: choose it longer than the fault that is
    meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "fail_disk", "disk_errors", "left with a failing disk"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"percent": (10, 100)}
    undo_name = "mend_disk"

    def why_not_now(self, faults: "Faults", node: Node, **arguments: object) -> list[str]:
        """Return who traces it already."""
        return disk_errors.TRACER.why_not_now(node, faults.host(node))

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which calls would fail."""
        percent = float(arguments.get("percent", _PERCENT))
        first = int(arguments.get("first", _FIRST))
        calls = waited_for(adapter, str(arguments.get("calls", "")))
        disk_errors.check_size(percent, first, calls)
        failing = ", ".join(disk_errors.CALLS[calls])
        return f"{host.shell().runner.where}: strace fails {percent:g} % of {failing} with EIO"

    def do(
        self, faults: "Faults", node: Node, percent: float = _PERCENT, first: int = _FIRST,
        calls: str = "", undo_after_s: float = 0.0,
    ) -> Proof:  # fmt: skip
        """Trace it; proven by the tracer of every thread."""
        host, calls = faults.host(node), waited_for(faults.adapter, calls)
        return disk_errors.fail(node, host, percent, first, calls, undo_after_s or None)


class MendDisk(_OfCalls, NodeUndo):
    """Let the disk of `node` work, and start the node if it ended because of it."""

    name, act, words = "mend_disk", "disk_mended", "given a working disk"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what ends, and that the node is started."""
        return (
            f"{host.shell().runner.where}: end the strace of its process, and start it if it ended"
        )

    def do(self, faults: "Faults", node: Node) -> Proof:
        """End the tracer and start the node; a fault that no call of the node met was not made."""
        host = faults.host(node)
        proof = disk_errors.undo_on(node, host)
        started = start_if_ended(faults, node)
        seen = proof.evidence
        if not (proof.already or started or seen["calls_hit"]):
            detail = f"node `{node.name}` made no call that `fail_disk` has fail"
            faults.breach(contract.DATA, detail, node.name)
        evidence = {**seen, "started": started}
        return replace(proof, evidence=evidence, already=proof.already and not started)

    def is_due(self, node: Node, host: Host) -> bool:
        """A tracer of ours has its calls fail."""
        return bool(disk_errors.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool | None:
        """The very tracer that was started is there; unknown of a node that ended by it."""
        if disk_errors.TRACER.injected(node, host)[0] == proof.get("tracer"):
            return True
        return False if host.running().running else None
