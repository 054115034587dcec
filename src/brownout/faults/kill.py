"""Kill a node: what a crash of its process looks like to everybody else."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.stop import Stopping
from brownout.inventory.model import Node
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["KillNode"]


class KillNode(Stopping):
    """Kill `node` (SIGKILL) and wait until its process is gone. Undone by `start_node`."""

    name, act, words = "kill_node", "kill", "killed"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    command = "kill"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Kill its process; proven when it is gone."""
        return faults.host(node).stop("kill")
