"""A fault that does nothing: what an exploration then finds is a false alarm of its judges."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from brownout.faults.fault import NodeFault, NodeUndo
from brownout.faults.faults import Faults
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof


class LeaveNode(NodeFault):
    """Leave `node` as it is. Undone by `return_to_node`."""

    name, act, undo_name = "leave_node", "no_fault", "return_to_node"
    words, summary = "left as it was", "look at the node's process and do nothing to it"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def do(self, faults: Faults, node: Node) -> Proof:
        """Look at its process."""
        return _look(faults.host(node))


class ReturnToNode(NodeUndo):
    """Leave `node` as it is once more."""

    name, act, words = "return_to_node", "no_fault", "left as it was once more"
    serves = True

    def is_in_place(self, node: Node, host: Host, proof: Mapping[str, Any]) -> bool:
        """The same process runs."""
        return bool(host.running().pid == proof["pid"])

    def do(self, faults: Faults, node: Node) -> Proof:
        """Look at its process."""
        return _look(faults.host(node))


def _look(host: Host) -> Proof:
    before = time.monotonic()
    return Proof(now := time.monotonic(), now - before, {"pid": host.running().pid})
