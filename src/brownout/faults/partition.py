"""Cut a node off from the other members while clients still reach it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.fault import Arguments
from brownout.faults.link import LinkFault, LinkUndo, match_of
from brownout.inventory.model import Cluster, Node
from brownout.machine import partition
from brownout.machine.host import Proof
from brownout.machine.packet_filter import Match

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["HealPartition", "PartitionNode"]


class PartitionNode(LinkFault):
    """Cut `node` off from the other members; clients still reach it. See `heal_partition`.

    After `undo_after_s` seconds it joins them again by itself, even if this run has died: choose
    it longer than the partition that is meant. 0 takes 120. By nftables: on a machine reached by
    ssh, in the network of a container or a pod, and in the network namespace of a lab's node, as
    lab-mongodb-partition has them.
    """

    name, act, words = "partition_node", "partition", "cut off from the others"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "heal_partition"
    filter = partition.FILTER
    variables: ClassVar[Mapping[str, str]] = {
        "partition_s": "seconds that the node stays cut off once the cluster has noticed",
        "undo_after_s": "the node joins the others by itself after so many seconds, even if we die",
    }

    def match(self, cluster: Cluster, node: Node, arguments: Arguments) -> Match:
        """Return all packets from and to every other node."""
        return match_of(cluster, node, {"peers": "members"})

    def size(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return from which members it is cut off."""
        return {"from": list(self.match(faults.cluster, node, {}).addresses)}

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Cut it off from every other node, both ways."""
        return self.drop(faults, node, undo_after_s)


class HealPartition(LinkUndo):
    """Let `node` reach the other members again. Does nothing to a node that does."""

    name, act, words = "heal_partition", "join", "joined to the others again"
    filter = partition.FILTER
