"""Cut a node off from the other members while clients still reach it."""

from typing import TYPE_CHECKING, Any

from brownout.faults.acts import Evidence
from brownout.faults.fault import HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Host, Partitioning, Proof, partitioning_host

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["HealPartition", "PartitionNode"]


class _OnANetwork(HostAction):
    def ready(self, node: Node) -> Partitioning:
        """Return the node's host, if it can cut the node off."""
        return partitioning_host(node)


class PartitionNode(_OnANetwork, NodeFault):
    """Cut `node` off from the other members; clients still reach it. See `heal_partition`.

    After `undo_after_s` seconds it joins them again by itself, even if this run has died: choose
    it longer than the partition that is meant. 0 takes 120. Only where the node has a network
    namespace to itself, as in lab-mongodb-partition.
    """

    name, act, words = "partition_node", "partition", "cut off from the others"
    undo, command = "heal_partition", "partition"

    def recorded(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return whom it is cut off from."""
        return {"from": _others(faults, node)}

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Cut it off from every other node, both ways."""
        return self.ready(node).partition(_others(faults, node), undo_after_s or None)


class HealPartition(_OnANetwork, NodeUndo):
    """Let `node` reach the other members again. Does nothing to a node that does."""

    name, act, words = "heal_partition", "join", "joined to the others again"
    command, marked = "join", True

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Let it reach everybody again."""
        return self.ready(node).heal_partition()

    def is_due(self, host: Host) -> bool:
        """A node is cut off from somebody."""
        return isinstance(host, Partitioning) and bool(host.cut_off())

    def is_in_place(self, host: Host, proof: Evidence) -> bool:
        """The node is cut off from all that it was cut off from."""
        return isinstance(host, Partitioning) and set(proof["from"]) <= set(host.cut_off())


def _others(faults: "Faults", node: Node) -> list[str]:
    return [other.address for other in faults.cluster.every if other.name != node.name]
