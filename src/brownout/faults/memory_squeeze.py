"""Leave a node with less memory than it uses."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import PROCESS, Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo, unfelt
from brownout.inventory.model import Node
from brownout.machine import memory
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["ReleaseMemory", "SqueezeMemory"]

_SHARE = 1.0


class _OfMemory(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its memory cannot be limited; empty if it can."""
        return memory.why_not(node, host)


class SqueezeMemory(_OfMemory, NodeFault):
    """Let `node` have no more than `mib` MiB of memory, or a `share` of what it uses now if 0.

    Undone by `release_memory`. What it may not have is taken from its page cache, swapped out where
    there is swap, and else it waits: it is slowed down and not killed (a container may be: its
    engine knows a hard limit only). By MemoryHigh of its systemd service, its control group or
    `docker update`; the evidence says `by` which. The node undoes it by itself after
    `undo_after_s` seconds, even if this run has died: choose it longer than the squeeze that is
    meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "squeeze_memory", "memory_squeeze", "left with little memory"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "release_memory"
    variables: ClassVar[Mapping[str, str]] = {
        "mib": "how many MiB of memory the node may still use; 0 for a share",
        "share": "the share of the memory that it uses now, as 0.9",
        "squeezed_s": "seconds for which it may not use more",
    }

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by what it would be limited."""
        mib, share = arguments.get("mib", 0.0), arguments.get("share", _SHARE)
        return memory.plan(node, host, float(mib), float(share))

    def undo_value(self, faults: "Faults", node: Node) -> Any:
        """Return the limit that it has, where only we could remember it."""
        return memory.before(node, faults.host(node))

    def do(
        self,
        faults: "Faults",
        node: Node,
        mib: float = 0.0,
        share: float = _SHARE,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Limit it; proven by reading the limit back."""
        return memory.squeeze(node, faults.host(node), mib, share, undo_after_s or None)


class ReleaseMemory(_OfMemory, NodeUndo):
    """Let `node` have the memory that it had. Does nothing to a node that is not squeezed."""

    name, act, words = "release_memory", "memory_release", "given its memory back"
    rank, marked = PROCESS - 1, True  # or a node that is started would be killed again

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be taken away."""
        return memory.plan(node, host, 0, 0)

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return nothing: what is limited can be given back."""
        return ""

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the limit away; proven by reading it back."""
        pending = [p for p in faults.pending if p.is_for(self.name, node.name)]
        proof = memory.undo_on(node, faults.host(node), pending[0].value if pending else None)
        if proof.evidence.get("limit_reached") == 0:
            return unfelt(proof, node, "memory")
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """The node has a limit of ours."""
        return bool(memory.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The node has the very limit that it was given."""
        return memory.left_on(node, host).startswith(f"{proof['mib']:.1f} MiB ")
