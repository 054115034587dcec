"""Cut a node off in one direction: a half-open link, or a black hole for clients."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.link import LinkFault, LinkUndo
from brownout.inventory.model import Node
from brownout.machine import one_way
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["CutOneWay", "OpenBothWays"]


class CutOneWay(LinkFault):
    """Drop all packets of `node` in one direction. Undone by `open_both_ways`.

    With `direction` `in` the node does not hear its peers, with `out` they do not hear it. `peers`
    are `members`, `all`, names of nodes separated by commas, or `clients`: everybody but the
    members, on the node's own port if no `port` is given, who then meet a black hole, without
    refused or reset connections. brownout's own load and its questions to the node are
    clients too; its way to the machine (ssh, `docker`, `kubectl`) stays open. After `undo_after_s`
    seconds the node undoes it by itself, even if this run has died: 0 takes the inventory's, which
    is 120 unless it says otherwise. By nftables, where partitions work.
    """

    name, act, words = "cut_one_way", "one_way", "cut off in one direction"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {
        "direction": ("in", "out"),
        "peers": ("members", "clients"),
    }
    undo_name = "open_both_ways"
    filter, directions = one_way.FILTER, ("in", "out")
    variables: ClassVar[Mapping[str, str]] = {
        "direction": "of the dropped packets, as the node sees it: in or out",
        "peers": "whose packets: members, clients, all, or names of nodes separated by commas",
        "port": "the one port; 0 for all, and for clients the node's own",
        "cut_s": "seconds for which they are dropped",
    }

    def do(
        self,
        faults: "Faults",
        node: Node,
        direction: str = "in",
        peers: str = "members",
        port: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Drop them; proven by the kernel's rules."""
        return self.drop(faults, node, undo_after_s, direction=direction, peers=peers, port=port)


class OpenBothWays(LinkUndo):
    """Let packets of `node` through in both directions again. Does nothing where they are."""

    name, act, words = "open_both_ways", "both_ways", "reached in both directions again"
    filter = one_way.FILTER
