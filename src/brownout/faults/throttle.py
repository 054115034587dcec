"""Leave a node with less CPU than it needs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo, unfelt
from brownout.inventory.model import Node
from brownout.machine import cpu
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["ThrottleNode", "UnthrottleNode"]

_CPUS = 0.2


class _OfACpu(HostAction):
    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its CPU cannot be limited; empty if it can."""
        return cpu.why_not(node, host)


class ThrottleNode(_OfACpu, NodeFault):
    """Let `node` have no more than `cpus` CPUs: it serves, but late. Undone by `unthrottle_node`.

    By the quota of its systemd service or its control group, by `docker update`, or by an in-place
    resize of its pod; the evidence says `by` which. On a machine and in a container the node undoes
    it by itself after `undo_after_s` seconds, even if this run has died: choose it longer than the
    throttling that is meant. 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "throttle_node", "throttle", "left with little CPU"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"cpus": (0.05, 0.2)}
    undo_name = "unthrottle_node"
    variables: ClassVar[Mapping[str, str]] = {
        "cpus": "how many CPUs the node may still use, as 0.2",
        "throttled_s": "seconds for which it may not use more",
    }

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by what it would be limited."""
        return cpu.plan(node, host, float(arguments.get("cpus", _CPUS)))

    def undo_value(self, faults: "Faults", node: Node) -> Any:
        """Return the limit that it has, where only we could remember it."""
        return cpu.before(node, faults.host(node))

    def do(
        self, faults: "Faults", node: Node, cpus: float = _CPUS, undo_after_s: float = 0.0
    ) -> Proof:
        """Limit it; proven by reading the limit back."""
        return cpu.limit(node, faults.host(node), cpus, undo_after_s or None)


class UnthrottleNode(_OfACpu, NodeUndo):
    """Let `node` have the CPU that it had. Does nothing to a node that is not throttled."""

    name, act, words = "unthrottle_node", "unthrottle", "given its CPU back"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return what would be taken away."""
        return cpu.plan(node, host, None)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the limit away; proven by reading it back."""
        pending = [p for p in faults.pending if p.is_for(self.name, node.name)]
        proof = cpu.undo_on(node, faults.host(node), pending[0].value if pending else None)
        if proof.evidence.get("periods_held_back") == 0:
            return unfelt(proof, node, "CPU")
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """The node has a limit of ours."""
        return bool(cpu.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The node has the very limit that it was given."""
        return cpu.left_on(node, host).startswith(f"{proof['cpus']:g} CPUs ")
