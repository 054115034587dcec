"""Kill a node: what a crash of its process looks like to everybody else."""

from typing import TYPE_CHECKING, Any

from brownout.faults.fault import NodeFault
from brownout.faults.wipe import check_wipes
from brownout.inventory.model import Node
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["KillNode"]


class KillNode(NodeFault):
    """Kill `node` (SIGKILL) and wait until its process is gone. Undone by `start_node`."""

    name, act, words, undo = "kill_node", "kill", "killed", "start_node"
    command = "kill"

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """A node that is to be wiped then is killed only where that will be allowed."""
        super().check(faults, node)
        check_wipes(faults, [node])

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Kill its process; proven when it is gone."""
        return faults.host(node).stop("kill")
