"""Slow what a node sends."""

from typing import TYPE_CHECKING

from brownout.faults.fault import NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Delaying, Host, Proof, delaying_host

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["DelayNode", "UndelayNode"]


class DelayNode(NodeFault):
    """Have what `node` sends arrive `latency_ms`, plus or minus `jitter_ms`, later.

    Undone by `undelay_node`. Only where the lab made a way for it, as lab-mongodb-slow does: by
    the kernel's netem where there is one, else by a toxiproxy in front of the node. The evidence
    says `by` which.
    """

    name, act, words, undo = "delay_node", "delay", "slowed", "undelay_node"
    command = "delay"

    def ready(self, node: Node) -> Delaying:
        """Return the node's host, if it can slow the node."""
        return delaying_host(node)

    def do(self, faults: "Faults", node: Node, latency_ms: int = 50, jitter_ms: int = 0) -> Proof:
        """Slow it; proven by reading it back."""
        return self.ready(node).delay(latency_ms, jitter_ms)


class UndelayNode(NodeUndo):
    """Have what `node` sends arrive as before. Does nothing to a node that is not slowed."""

    name, act, words = "undelay_node", "undelay", "no longer slowed"
    command = "undelay"

    def ready(self, node: Node) -> Delaying:
        """Return the node's host, if it can slow the node."""
        return delaying_host(node)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the delay away; proven by reading it back."""
        return self.ready(node).undelay()

    def is_due(self, host: Host) -> bool:
        """A node is slowed."""
        return isinstance(host, Delaying) and bool(host.delayed())
