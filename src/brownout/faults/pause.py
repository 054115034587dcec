"""Freeze a node: it hangs, without a word to the others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.act import PROCESS
from brownout.faults.fault import NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["PauseNode", "ResumeNode"]


class PauseNode(NodeFault):
    """Freeze the process of `node` (SIGSTOP): it hangs, as on a stalled disk. See `resume_node`.

    After `undo_after_s` seconds the node resumes it by itself, even if this run has died or
    its way to the node is cut: choose it longer than the pause that is meant. 0 takes the
    inventory's, which is 120 unless it says otherwise.
    """

    name, act, words, undo_name = "pause_node", "pause", "frozen", "resume_node"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    command = "pause"

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Freeze its process; proven when the kernel says it is stopped."""
        return faults.host(node).pause(undo_after_s or None)


class ResumeNode(NodeUndo):
    """Resume a paused `node` (SIGCONT). Does nothing to a node that runs."""

    name, act, words = "resume_node", "resume", "resumed"
    command, rank = "resume", PROCESS

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Resume its process; proven when the kernel says that it runs."""
        return faults.host(node).resume()

    def is_due(self, node: Node, host: Host) -> bool:
        """A node of a cluster that was whole is frozen."""
        state = host.running()
        return state.running and state.paused
