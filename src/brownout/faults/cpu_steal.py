"""Take CPU time from a node, as a noisy neighbour does."""

from typing import TYPE_CHECKING, Any

from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import steal
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["ReturnCpu", "StealCpu"]

_CPUS = 0.9


class StealCpu(NodeFault):
    """Take `cpus` CPUs from `node` by processes of ours beside it. Undone by `return_cpu`.

    The node is pinned to as many CPUs as are stolen from, so that it keeps what is left of them:
    0.9 leaves it a tenth of one. Other processes on these CPUs are slowed, too: of brownout's own
    machine at most half is taken, and a machine that others use as well is refused unless it is
    `shared`. The node's machine undoes it by itself after `undo_after_s` seconds, even if this run
    has died: choose it longer than it is meant to last. 0 takes the inventory's, which is 120
    unless it says otherwise.
    """

    name, act, words = "steal_cpu", "cpu_steal", "deprived of CPU time"
    undo_name = "return_cpu"

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why no CPU can be stolen from it; empty if it can."""
        return steal.why_not(node, host)

    def why_not_now(self, faults: "Faults", node: Node, **arguments: Any) -> list[str]:
        """Return why it would hurt others."""
        cpus, shared = float(arguments.get("cpus", _CPUS)), bool(arguments.get("shared", False))
        return steal.refusals(node, faults.host(node), cpus, shared)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would take how much."""
        return steal.plan(node, host, float(arguments.get("cpus", _CPUS)))

    def do(
        self,
        faults: "Faults",
        node: Node,
        cpus: float = _CPUS,
        shared: bool = False,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Steal it; proven by what our processes get."""
        return steal.steal(node, faults.host(node), cpus, undo_after_s or None)


class ReturnCpu(NodeUndo):
    """Give `node` its CPU back. Does nothing to a node from which nothing is stolen."""

    name, act, words = "return_cpu", "cpu_return", "given its CPU time back"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be ended."""
        return steal.plan(node, host, None)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """End what steals it; proven by their absence."""
        return steal.undo_on(node, faults.host(node))

    def is_due(self, node: Node, host: Host) -> bool:
        """Processes of ours steal its CPU."""
        return bool(steal.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """Processes of ours run, with the very quota that they were given."""
        words = steal.left_on(node, host)
        return words.startswith(f"{proof['cpus']:g} CPUs by ") and " 0 processes" not in words
