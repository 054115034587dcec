"""Slow what a node sends."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import delay
from brownout.machine.host import Host, Proof, Shared
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["DelayNode", "UndelayNode"]


class _OnALink(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why the node cannot be slowed; empty if it can."""
        return delay.why_not(node, host)


class DelayNode(_OnALink, NodeFault):
    """Have what `node` sends arrive `latency_ms`, plus or minus `jitter_ms`, later.

    Undone by `undelay_node`. By netem on a machine reached by ssh, in the network of a container or
    a pod, and in the network namespace of a lab's node, where the kernel has it; else by a
    toxiproxy that the lab put in front of the node, as lab-mongodb-slow does. The evidence says
    `by` which. With netem the node undoes it by itself after `undo_after_s` seconds, even if this
    run has died: choose it longer than the delay that is meant. 0 takes the inventory's, which is
    120 unless it says otherwise.
    """

    name, act, words, undo_name = "delay_node", "delay", "slowed", "undelay_node"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"latency_ms": (20, 200)}
    variables: ClassVar[Mapping[str, str]] = {
        "latency_ms": "by how many milliseconds the node's answers come later",
        "jitter_ms": "plus or minus so many milliseconds",
        "slow_s": "seconds for which they do",
    }

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by what it would be slowed."""
        return delay.plan(node, host, "add")

    def shares(self, node: Node, arguments: Arguments) -> Shared | None:
        """All that its network sends is slowed."""
        return "network"

    def do(
        self,
        faults: "Faults",
        node: Node,
        latency_ms: int = 50,
        jitter_ms: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Slow it; proven by reading it back."""
        return delay.slow(node, faults.host(node), latency_ms, jitter_ms, undo_after_s or None)


class UndelayNode(_OnALink, NodeUndo):
    """Have what `node` sends arrive as before. Does nothing to a node that is not slowed."""

    name, act, words = "undelay_node", "undelay", "no longer slowed"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be taken away."""
        return delay.plan(node, host, "remove")

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the delay away; proven by reading it back. Netem counted what it held back."""
        proof = delay.undo_on(node, faults.host(node))
        if proof.evidence.get("delayed_packets") == 0:
            detail = (
                f"node `{node.name}` was not slowed: netem was in place, but held back no packet; "
                "the node may answer by another interface"
            )
            faults.breach(contract.DATA, detail, node.name)
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """The node is slowed."""
        return bool(delay.left_on(node, host))
