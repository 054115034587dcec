"""Cut a node off from what its cluster is coordinated by, as its supervisors' store."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter, Support
from brownout.faults.fault import Arguments
from brownout.faults.link import LinkFault, LinkUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine import cut_off
from brownout.machine.host import Proof
from brownout.machine.packet_filter import Match

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["CutOff", "ReconnectNode"]

_MISSING = "the inventory does not say by what the cluster is coordinated (`coordination`)"


class CutOff(LinkFault):
    """Cut `node` off from what its cluster is coordinated by. Undone by `reconnect_node`.

    That is what the inventory names under `coordination`, on its port (on every port where they
    have several). The other members and clients still reach the node. After `undo_after_s` seconds
    the node undoes it by itself, even if this run has died: 0 takes the inventory's, which is 120
    unless it says otherwise. By nftables, where partitions work.
    """

    name, act, words = "cut_off", "cut_off", "cut off from its coordination"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "reconnect_node"
    filter = cut_off.FILTER

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support | None:
        """Return whether the inventory names a coordination, and the hosts can do it."""
        if not cluster.coordinators:
            return Support(False, _MISSING)
        return super().supports(cluster, adapter)

    def match(self, cluster: Cluster, node: Node, arguments: Arguments) -> Match:
        """Return all packets from and to the coordination."""
        if not cluster.coordinators:
            raise ConfigurationError(_MISSING, "add it, each as host:port")
        ports = {int(address.rpartition(":")[2]) for address in cluster.coordinators}
        return Match(addresses=cluster.coordinators, port=ports.pop() if len(ports) == 1 else 0)

    def size(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return from what it is cut off."""
        return {"from": list(faults.cluster.coordinators)}

    def do(self, faults: "Faults", node: Node, undo_after_s: float = 0.0) -> Proof:
        """Cut it off, both ways."""
        return self.drop(faults, node, undo_after_s)


class ReconnectNode(LinkUndo):
    """Let `node` reach its coordination again. Does nothing to a node that does."""

    name, act, words = "reconnect_node", "reconnect", "reconnected to its coordination"
    filter = cut_off.FILTER
