"""Cut a node off from the other members while clients still reach it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import partition
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["HealPartition", "PartitionNode"]


class _OnANetwork(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why the node's network cannot be changed; empty if it can."""
        return partition.why_not(host.network())


class PartitionNode(_OnANetwork, NodeFault):
    """Cut `node` off from the other members; clients still reach it. See `heal_partition`.

    After `undo_after_s` seconds it joins them again by itself, even if this run has died: choose
    it longer than the partition that is meant. 0 takes 120. By nftables: on a machine reached by
    ssh, in the network of a container or a pod, and in the network namespace of a lab's node, as
    lab-mongodb-partition has them.
    """

    name, act, words = "partition_node", "partition", "cut off from the others"
    undo_name = "heal_partition"
    variables: ClassVar[Mapping[str, str]] = {
        "partition_s": "seconds that the node stays cut off once the cluster has noticed",
        "undo_after_s": "the node joins the others by itself after so many seconds, even if we die",
    }

    def size(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return from which members it is cut off."""
        return {"from": _others(faults, node)}

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which rules would be added."""
        return partition.plan_of_cut(host.network())

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Cut it off from every other node, both ways."""
        network = faults.host(node).network()
        return partition.cut(network, _others(faults, node), undo_after_s or None)


class HealPartition(_OnANetwork, NodeUndo):
    """Let `node` reach the other members again. Does nothing to a node that does."""

    name, act, words = "heal_partition", "join", "joined to the others again"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which rules would be removed."""
        return partition.plan_of_join(host.network())

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Let it reach every other node again."""
        return partition.undo_on(node, faults.host(node))

    def is_due(self, node: Node, host: Host) -> bool:
        """The node is cut off from another one."""
        return bool(partition.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The node is cut off from all that it was cut off from."""
        return set(proof["from"]) <= set(partition.peers_cut(host.network()))


def _others(faults: "Faults", node: Node) -> list[str]:
    return [other.address for other in faults.cluster.every if other.name != node.name]
