"""Have the kernel kill a node that wants more memory than it may have."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.fault import Arguments
from brownout.faults.stop import Stopping
from brownout.inventory.model import Node
from brownout.machine import memory
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["OomKillNode"]


class OomKillNode(Stopping):
    """Have the kernel kill `node` as out of memory, and wait until it is gone.

    Undone by `start_node`, which does nothing where a supervisor has started it. Its memory is
    limited to less than it needs, by MemoryMax of its systemd service or a control group, and the
    limit is taken away as soon as it is gone; a switch does so if this run dies before.
    """

    name, act, words = "oom_kill_node", "oom_kill", "killed by the kernel as out of memory"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why the kernel cannot be made to kill it; empty if it can."""
        return memory.why_no_kill(node, host)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by what its memory would be limited."""
        return memory.plan_of_kill(node, host)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Have it killed; proven by the kernel's count of such kills, and when it is gone."""
        return memory.kill(node, faults.host(node))
