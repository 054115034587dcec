"""Settings of a cluster, or of a node, that are changed while it serves, and go back."""

from typing import TYPE_CHECKING, Any

from brownout.databases.resize import Adjustable
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.fault import Fault, Undo
from brownout.inventory.model import Node

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["Adjust", "AdjustAgain", "give"]


class Adjust(Fault):
    """Give a setting of the cluster, or of `node`, another value. Put back by the rollback."""

    name, act, words, undo_name = "adjust", "adjust", "a setting changed", "adjust"
    module, node = "", None  # each setting has an action of its own

    def run(self, faults: "Faults", node: Node | None, setting: str, value: Any) -> Evidence:
        """Change it; the value that it had is put back."""
        adapter = _adjustable(faults, setting)
        felt = adapter.is_felt(setting)
        objections = adapter.objections_to_adjust(setting, value, node)
        faults.check_change(self.act, node, objections, whole=felt)
        before, where = adapter.setting(setting, node), node.name if node else None
        leaves = PendingUndo(self.undo_name, where, setting, before)
        evidence = _set(faults, "break" if felt else "change", setting, value, node, leaves)
        if node is None and not felt:
            faults.given[setting] = value
        return evidence


class AdjustAgain(Undo):
    """Give a setting the value that it had."""

    name, act, words, module = "adjust", "adjust", "a setting changed", ""
    breaks, same_name = False, True

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Give it the value before."""
        node = faults.cluster.node(pending.node) if pending.node else None
        self.run(faults, node, pending.setting, pending.value)

    def run(self, faults: "Faults", node: Node | None, setting: str, value: Any) -> Evidence:
        """Give it that value."""
        return give(faults, "mend", setting, value, node)

    def describe(self, pending: PendingUndo) -> str:
        """Return it as `replication_factor back to 2`."""
        return f"{pending.setting} back to {pending.value}"


def give(
    faults: "Faults", type: str, setting: str, value: Any, node: Node | None = None
) -> Evidence:
    """Give a setting a value that leaves nothing more to be put back."""
    return _set(faults, type, setting, value, node, None)


def _set(
    faults: "Faults",
    type: str,
    setting: str,
    value: Any,
    node: Node | None,
    leaves: PendingUndo | None,
) -> Evidence:
    adapter, where = _adjustable(faults, setting), node.name if node else None
    arguments = {"setting": setting, "value": value}
    act = Act(type, "adjust", where, leaves, arguments, setting)
    return faults.perform(act, lambda: adapter.adjust(setting, value, node))


def _adjustable(faults: "Faults", setting: str) -> Adjustable:
    if isinstance(faults.adapter, Adjustable) and faults.adapter.supports(setting).ok:
        return faults.adapter
    raise faults.unsupported(setting)
