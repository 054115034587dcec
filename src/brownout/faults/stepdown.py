"""The planned failover: the primary hands over."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.databases.adapter import SteppingDown
from brownout.faults.fault import NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["StepDownPrimary", "UndrainNode"]


class StepDownPrimary(NodeFault):
    """Have the primary hand over to another member (`replSetStepDown`): the planned failover.

    It first lets a secondary catch up, for `catch_up_s` seconds at most
    (`secondaryCatchUpPeriodSecs`), and fails if none has by then; the evidence's `caught_up_s`
    says how long that took. The old primary becomes a secondary, so nothing stays broken.
    """

    name, act, words = "step_down_primary", "stepdown", "told to step down"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "undrain_node"
    module, of_role = "mongodb", "primary"
    on_host, stays = False, False
    summary = "have {} hand over: another member takes over"

    def why_not_now(self, faults: "Faults", node: Node, catch_up_s: int = 10) -> list[str]:
        """Raise `Unsupported` for a database without a primary that hands over."""
        if not isinstance(faults.adapter, SteppingDown):
            raise faults.unsupported(self.act)
        return []

    def do(self, faults: "Faults", node: Node, catch_up_s: int = 10) -> Proof:
        """Have it hand over once another one has caught up."""
        if not isinstance(faults.adapter, SteppingDown):
            raise faults.unsupported(self.act)
        return faults.adapter.step_down(node, catch_up_s)


class UndrainNode(NodeUndo):
    """Let `node` take work again."""

    name, act, words, module = "undrain_node", "undrain", "let back in", ""
    on_host, serves = False, True

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Have the database let it take work again."""
        return faults.adapter.undrain(node)
