"""Reboot the machine of a node."""

from typing import TYPE_CHECKING

from brownout.faults import guards
from brownout.faults.fault import Arguments, NodeFault
from brownout.inventory.model import Node
from brownout.machine.host import Proof, Shared

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["RebootNode"]


class RebootNode(NodeFault):
    """Reboot the machine of `node`, which this run has broken. A plain process has none: skipped.

    A node that runs is refused, also another one of the same machine: stop or kill it first, which
    the guards judge.
    """

    name, act, words, type = "reboot_node", "reboot", "rebooted", "mend"
    command = "reboot"

    def check(self, faults: "Faults", node: Node, **arguments: object) -> None:
        """It belongs to a fault that the guards have judged, so the node has to be down already."""
        others = [each.name for each in self.neighbours(faults.members, node, arguments)]
        guards.refuse([guards.of_reboot(node.name, faults.broken, others)])
        faults.check_denied(self.act)

    def shares(self, node: Node, arguments: Arguments) -> Shared | None:
        """It restarts all that runs there."""
        return "machine"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Restart it; proven by another boot."""
        return faults.host(node).reboot()
