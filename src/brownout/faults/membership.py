"""Nodes come and go while the cluster serves, and the cluster ends with the members it began with.

    add_node ──▶ [data moves] ──▶ admit_node          undone by remove_node
    remove_node                                       undone by add_node

Each is written down, guarded and put back as every fault is, also where the run died half-way.
"""

from typing import TYPE_CHECKING, Any

from brownout.base.errors import BrownoutError, after_effect
from brownout.databases.milestones import unmet
from brownout.databases.resize import Adjustable, Resizing
from brownout.faults import guards
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.fault import Fault, Undo
from brownout.faults.redundancy import await_redundancy
from brownout.faults.settings import give
from brownout.inventory.model import Node
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["WAS_EMPTY", "AddAgain", "AddNode", "AdmitNode", "RemoveAgain", "RemoveNode"]

#: The value of a pending `remove_node` of a spare that held nothing when it was added.
WAS_EMPTY = "was empty"
#: Votes and priority, where a database has these.
_SAY = "votes_and_priority"


class AddNode(Fault):
    """Start `node` and make it a member; the data that it is to hold then moves to it.

    `node` is `spare`, the first spare of the inventory that is not a member, or a name. Refused
    while the cluster is degraded or still moves data. Undone by `remove_node`.
    """

    name, act, words, undo_name = "add_node", "add", "added", "remove_node"
    module, node, on_host = "resize", "spare", True
    summary = "start {}, then have the members take it in"

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Start it and make it a member, with the settings that the others were given."""
        adapter = _resizing(faults, "add")
        faults.check_denied(RemoveAgain.act)  # or it could not be taken out again
        faults.check_change("add", node, [*faults.pinned(), *adapter.objections_to_join(node)])
        evidence = _add(faults, "break", node)
        for name, value in faults.given.items():  # the new node came with its own
            give(faults, "change", name, value)
        return evidence


class RemoveAgain(Undo):
    """Take out a node that was added, once the others can do without it."""

    name, act, words, module, breaks = "remove_node", "remove", "removed", "", False
    hurts = True

    def check(self, faults: "Faults", pending: PendingUndo) -> None:
        """Take out only a spare that was not a member before the run, and only as guards allow."""
        node = str(pending.node)
        removal = guards.of_removal(node, faults.removable)
        guards.refuse([removal, *faults.guards_of_undo(self.act, node)])

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Wait for the copies, take it out, and leave a spare that was empty empty."""
        node = faults.cluster.node(str(pending.node))
        _await_copies(faults, node)
        self.run(faults, node)
        if pending.value == WAS_EMPTY:
            _empty_again(faults, node)

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Have it hand over its work where it can, stop it, and have the others forget it."""
        return _remove(faults, "mend", node)


class RemoveNode(Fault):
    """Have `node` hand over what it does, stop it, and have the others forget it.

    Aerospike Enterprise quiesces it first, a primary of MongoDB steps down first. Refused where
    too few copies or votes would stay. Undone by `add_node`.
    """

    name, act, words, undo_name = "remove_node", "remove", "removed", "add_node"
    module, on_host = "resize", True
    summary = "have {} hand over its work, stop it, have the others forget it"

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Take it out; what say it had is kept for its return."""
        adapter = _resizing(faults, "remove")
        objections = [*faults.pinned(), *adapter.objections_to_leave(node)]
        faults.check_change("remove", node, objections)
        return _remove(faults, "break", node, _say_of(faults, node))


class AddAgain(Undo):
    """Make a node that was removed a member again, with the say that it had."""

    name, act, words, module, breaks = "add_node", "add", "added", "", False

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Start it, make it a member, and give it its say once it has the data for it."""
        node = faults.cluster.node(str(pending.node))
        self.run(faults, node)
        if pending.value is not None:
            await_redundancy(
                lambda: unmet(faults.adapter, "redundant"), f"node `{node.name}` has no vote yet"
            )
            give(faults, "change", _SAY, pending.value, node)

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Start it and make it a member."""
        return _add(faults, "mend", node)


class AdmitNode(Fault):
    """Give a `node` that was added, and has its data, its full say: a vote and a priority.

    `node` is `added`, the one that was added last, or a name. Does nothing where a database has
    no such step, as Aerospike.
    """

    name, act, words = "admit_node", "add", "given its full say"
    module, node = "resize", "added"
    summary = "give the added node its vote and priority, where the database has these"

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Give it its say."""
        adapter = _resizing(faults, "add")
        act = Act("change", self.name, node.name)
        return faults.perform(act, lambda: adapter.admit(node))


def _add(faults: "Faults", type: str, node: Node) -> Evidence:
    adapter = _resizing(faults, "add")

    def do() -> Proof:
        faults.host(node).start()
        with after_effect():
            return adapter.join(node)

    value = WAS_EMPTY if _is_empty(faults, node) else None
    leaves = PendingUndo("remove_node", node.name, value=value) if type == "break" else None
    return faults.perform(Act(type, "add_node", node.name, leaves), do)


def _remove(faults: "Faults", type: str, node: Node, say: Any = None) -> Evidence:
    adapter = _resizing(faults, "remove")

    def do() -> Proof:
        left = adapter.leave(node)
        with after_effect():
            stopped = faults.host(node).stop("clean")
            adapter.expect([member for member in faults.members if member.name != node.name])
            forgotten = adapter.forget(node)
        first = stopped if left.already else left
        seen = {"left": left.evidence, "stopped": stopped.evidence, **forgotten.evidence}
        return Proof(first.effective_monotonic, first.uncertainty_s, seen)

    leaves = PendingUndo("add_node", node.name, value=say) if type == "break" else None
    return faults.perform(Act(type, "remove_node", node.name, leaves), do)


def _say_of(faults: "Faults", node: Node) -> Any:
    """Return the votes and priority that a member has; None where there is no such thing."""
    adapter = faults.adapter
    if isinstance(adapter, Adjustable) and adapter.supports(_SAY).ok:
        return adapter.setting(_SAY, node)
    return None


def _await_copies(faults: "Faults", leaving: Node) -> None:
    """Wait until the others could do without `leaving`: one removal too soon loses data.

    A run that died may have had it out already, so they are asked with and without it.
    """
    rest = [member for member in faults.members if member.name != leaving.name]
    running = faults.host(leaving).running().running
    asked = [faults.members, rest] if running else [rest]
    adapter = _resizing(faults, "remove")

    def missing() -> list[str]:
        unmet_words: list[str] = []
        for nodes in asked:
            adapter.expect(nodes)
            unmet_words = unmet(faults.adapter, "redundant")
            if not unmet_words:
                break
        return unmet_words

    await_redundancy(missing, f"node `{leaving.name}` stays, since a removal could lose data")
    adapter.expect(asked[0])


def _is_empty(faults: "Faults", node: Node) -> bool:
    """Whether `node` is a spare that holds nothing; not, where that cannot be told."""
    if node not in faults.cluster.spares:
        return False
    try:
        named = faults.adapter.data_directories(node)
        return bool(named) and not any(faults.host(node).entries(each) for each in named)
    except BrownoutError:
        return False


def _empty_again(faults: "Faults", node: Node) -> None:
    """Leave a spare as it was found, empty, where its data may be wiped at all."""
    allowed = all(guard.ok for guard in guards.of_emptying(faults.cluster))
    if node in faults.cluster.spares and allowed:
        directories = faults.adapter.data_directories(node)
        act = Act("mend", "empty_spare", node.name)
        faults.perform(act, lambda: faults.host(node).wipe(directories))


def _resizing(faults: "Faults", need: str) -> Resizing:
    if isinstance(faults.adapter, Resizing) and faults.adapter.supports(need).ok:
        return faults.adapter
    raise faults.unsupported(need)
