"""Slow what a node sends."""

from typing import TYPE_CHECKING

from brownout.faults.fault import HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Delaying, Host, Proof, delaying_host

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["DelayNode", "UndelayNode"]


class _OnALink(HostAction):
    def ready(self, node: Node) -> Delaying:
        """Return the node's host, if it can slow the node."""
        return delaying_host(node)


class DelayNode(_OnALink, NodeFault):
    """Have what `node` sends arrive `latency_ms`, plus or minus `jitter_ms`, later.

    Undone by `undelay_node`. By netem on a machine reached by ssh whose kernel has it, and in the
    network namespace of a lab's node; else by a toxiproxy that the lab put in front of the node,
    as lab-mongodb-slow does. The evidence says `by` which. With netem the node undoes it by itself
    after `undo_after_s` seconds, even if this run has died: choose it longer than the delay that
    is meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words, undo = "delay_node", "delay", "slowed", "undelay_node"
    command = "delay"

    def do(
        self,
        faults: "Faults",
        node: Node,
        latency_ms: int = 50,
        jitter_ms: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Slow it; proven by reading it back."""
        return self.ready(node).delay(latency_ms, jitter_ms, undo_after_s or None)


class UndelayNode(_OnALink, NodeUndo):
    """Have what `node` sends arrive as before. Does nothing to a node that is not slowed."""

    name, act, words = "undelay_node", "undelay", "no longer slowed"
    command, marked = "undelay", True

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the delay away; proven by reading it back."""
        return self.ready(node).undelay()

    def is_due(self, host: Host) -> bool:
        """A node is slowed."""
        return isinstance(host, Delaying) and bool(host.delayed())
