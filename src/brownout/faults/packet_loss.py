"""Lose a share of a node's packets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.fault import Arguments
from brownout.faults.link import LinkFault, LinkUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine import packet_loss
from brownout.machine.host import Proof
from brownout.machine.packet_filter import Match

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["DeliverPackets", "LosePackets"]


class LosePackets(LinkFault):
    """Lose `percent` of the packets of `node`, each way for itself. Undone by `deliver_packets`.

    `direction` is `in`, `out` or `both`; `peers` whose packets: `all`, `members`, `clients` (who
    use the node's own port, if none is given) or names of nodes separated by commas; `port` the one
    port on either side, 0 for every one. A percentage of 0 adds the rules and loses nothing: the
    control. After `undo_after_s` seconds the node undoes it by itself, even if this run has died: 0
    takes the inventory's, which is 120 unless it says otherwise. By nftables, where partitions
    work; what goes out needs a kernel of Linux 5.16 or later.
    """

    name, act, words = "lose_packets", "packet_loss", "left with a lossy link"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"percent": (5, 20, 50)}
    undo_name = "deliver_packets"
    filter = packet_loss.FILTER
    variables: ClassVar[Mapping[str, str]] = {
        "percent": "percentage of packets that are lost, in each direction; 0 is the control",
        "direction": "of the packets, as the node sees it: in, out or both",
        "peers": "whose packets: all, members, clients, or names of nodes separated by commas",
        "port": "the one port; 0 for all, and for clients the node's own",
        "lossy_s": "seconds for which packets are lost",
    }

    def match(self, cluster: Cluster, node: Node, arguments: Arguments) -> Match:
        """Return which packets, and what share of them."""
        percent = float(arguments.get("percent", 10.0))
        return replace(super().match(cluster, node, arguments), share=round(percent * 100))

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with its size, a direction or a port."""
        percent, problems = arguments.get("percent", 10.0), super().problems(arguments)
        if not 0 <= float(percent) <= 100:
            problems.append(f"percent: found {percent}, wanted 0 to 100")
        return problems

    def do(
        self,
        faults: "Faults",
        node: Node,
        percent: float = 10.0,
        direction: str = "both",
        peers: str = "all",
        port: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Lose them; proven by the kernel's rules."""
        asked = {"percent": percent, "direction": direction, "peers": peers, "port": port}
        proof = self.drop(faults, node, undo_after_s, **asked)
        return replace(proof, evidence={**proof.evidence, "percent": percent})


class DeliverPackets(LinkUndo):
    """Lose no packet of `node` any more. Does nothing to a node that loses none."""

    name, act, words = "deliver_packets", "deliver", "given its link back"
    filter = packet_loss.FILTER
