"""Empty a stopped node's data directories; what was cut short is finished, or left for people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brownout.base.errors import BrownoutError, Refused, UndoFailed
from brownout.databases.adapter import Adapter, Identified
from brownout.databases.places import Elsewhere, Unnamed
from brownout.faults import guards
from brownout.faults.act import FINISH_WIPE, Act, Evidence, PendingUndo
from brownout.faults.fault import Fault, HostAction, Undo
from brownout.faults.guards import Guard
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host
from brownout.run.contract import DATA

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["FinishWipe", "WipeNode", "Wipes", "check_wipes", "guards_of_wipe"]

#: How long the others may take to answer for what a stopped node holds, and after a heal.
_ANSWERED_WITHIN_S = 10.0
_HEALED_WITHIN_S = 60.0


def guards_of_wipe(
    cluster: Cluster, adapter: Adapter, host: Host, node: Node, lost: Sequence[str]
) -> list[Guard]:
    """Ask every guard of a wipe of `node` but whether it is stopped; nothing is touched.

    `lost` is what the adapter says would be lost with its data.
    """
    against = ""
    try:
        host.check_wipe(adapter.data_directories(node))
    except BrownoutError as error:
        against = str(error)
    return guards.of_wipe(cluster, node.name, lost, against)


class Wipes:
    """The wipes of one run: what each node had with its data before, and whether it still has it.

    That a directory is empty proves nothing of a node whose data lie elsewhere. So a node that was
    started again is asked for what goes with its data, and where those lie.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._before: dict[str, str] = {}
        self._wiped: dict[str, tuple[Path, ...]] = {}

    def remember(self, node: Node) -> None:
        """Note what the living node has with its data, since a stopped one cannot be asked."""
        identity = self._identity(node)
        if identity:
            self._before[node.name] = identity

    def add(self, node: Node, directories: Sequence[Path]) -> None:
        """Note that these directories of the node were emptied."""
        self._wiped[node.name] = tuple(directories)

    def kept(self, node: Node) -> str:
        """Return in words why a node that was wiped and started again still holds its data.

        Empty where nothing says so. Each wipe is judged once.
        """
        wiped = self._wiped.pop(node.name, None)
        if wiped is None:
            return ""
        before = self._before.get(node.name, "")
        if before and self._identity(node) == before:
            return (
                f"node `{node.name}` was wiped and still has its {before}, which goes with its data"
            )
        try:
            now = self._adapter.data_directories(node)
        except Elsewhere as error:
            return f"node `{node.name}` was wiped and may still hold its data: {error.message}"
        except BrownoutError:
            return ""
        others = [each for each in now if each not in wiped]
        if others:
            return (
                f"node `{node.name}` was wiped, but not where it keeps its data: {_paths(others)}"
            )
        return ""

    @property
    def unproven(self) -> list[str]:
        """The nodes that were wiped and have not been judged."""
        return list(self._wiped)

    def _identity(self, node: Node) -> str:
        try:
            return self._adapter.identity(node) if isinstance(self._adapter, Identified) else ""
        except BrownoutError:
            return ""


def check_wipes(faults: "Faults", nodes: Sequence[Node]) -> None:
    """Refuse to stop nodes of which one is to be wiped then and may not be."""
    checks: list[Guard] = []
    for node in nodes:
        if faults.to_wipe(node):
            faults.wipes.remember(node)
            lost = faults.would_lose(faults.gone(*nodes))
            checks += guards_of_wipe(faults.cluster, faults.adapter, faults.host(node), node, lost)
    guards.refuse(checks)


class WipeNode(HostAction, Fault):
    """Empty the data directories that the own configuration of `node` names, and prove it.

    Refuses unless the inventory says `allow_data_loss: true`, the node is proven stopped, and the
    cluster was whole and redundant before. There is no undo: `start_node` lets the database fill
    the node again from the others.
    """

    name, act, words, undo_name = "wipe_node", "wipe", "wiped", "start_node"
    command = "wipe"

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return what is emptied."""
        return adapter.data_directories(node)

    def _check(self, faults: "Faults", node: Node) -> None:
        """Refuse a wipe of a node that is not stopped, or that any other guard is against."""
        host, cluster = faults.host(node), faults.cluster
        state = host.running()
        guards.refuse([guards.of_stopped(node.name, state.describe(), state.running)])
        faults.check_break(node, self.act)
        wanted = cluster.allow_data_loss != "all_copies"
        lost = faults.would_lose(faults.gone(node), _ANSWERED_WITHIN_S * wanted)
        guards.refuse(guards_of_wipe(cluster, faults.adapter, host, node, lost))

    def run(self, faults: "Faults", node: Node) -> Evidence:
        """Ask the guards, and write the intent between the last check and the first removal.

        A wipe without an intent never began, and is never finished.
        """
        self._check(faults, node)
        directories = faults.adapter.data_directories(node)
        named = {"directories": [str(each) for each in directories], "began": True}
        act = Act("break", self.name, node.name, PendingUndo(self.undo_name, node.name), named)
        entries: list[int] = []

        def began() -> None:
            entries.append(faults.begin(act))
            faults.leave(PendingUndo(FINISH_WIPE, node.name, value=tuple(directories)))

        try:
            proof = faults.host(node).wipe(directories, began)
        except BrownoutError as error:
            for entry in entries:
                faults.note_failure(entry, error)
            raise
        faults.resolve(FINISH_WIPE, node.name)
        faults.wipes.add(node, directories)
        if proof.already:
            faults.breach(DATA, f"node `{node.name}` was wiped, and nothing was there", node.name)
        return faults.complete(act, entries[0], lambda: proof)


class FinishWipe(Undo):
    """Empty what a wipe left that was cut short, where every guard still allows it."""

    name, act, words, module = FINISH_WIPE, "wipe", "wiped to the end", ""
    rank, hurts = 0, True

    def check(self, faults: "Faults", pending: PendingUndo) -> None:
        """A node that runs has nothing left to be wiped; `put_back` asks the guards of another."""

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Finish it, unless the node runs; else it stays stopped and `UndoFailed` says why.

        The record of the wipe has to name all that the node's own configuration names. What it
        names besides, as what a link led to that is gone by now, has to be empty already. Where no
        configuration names anything it is the record of what the node itself said.
        """
        node = faults.cluster.node(str(pending.node))
        if faults.host(node).running().running:
            faults.resolve(FINISH_WIPE, node.name)
            return
        try:
            recorded = pending.value or ()
            named = _named(faults.adapter, node, recorded)
            besides = [each for each in recorded if each not in named]
            if (
                not recorded
                or not set(named) <= set(recorded)
                or not _all_empty(faults.host(node), besides)
            ):
                raise Refused(
                    f"the record of its wipe names {_paths(recorded)}, but its own configuration "
                    f"names {_paths(named)}"
                )
            of_undo = faults.guards_of_undo(self.act, node.name)
            lost = faults.would_lose(faults.gone(node), _HEALED_WITHIN_S)
            guards.refuse([*of_undo, *guards.of_wipe(faults.cluster, node.name, lost, "")])
            self.run(faults, node, named)
        except BrownoutError as error:
            raise UndoFailed(
                f"node `{node.name}` is left stopped: its wipe began and was cut short, so it "
                f"would start on a part of its files, and what is left is not removed: {error}",
                "see that the other nodes have all data; then empty its data directory yourself, "
                "start it, and heal again",
            ) from error

    def run(self, faults: "Faults", node: Node, directories: Sequence[Path]) -> Evidence:
        """Empty them; the guards were asked."""
        act = Act("mend", self.name, node.name)
        return faults.perform(act, lambda: faults.host(node).wipe(directories, finishing=True))


def _named(adapter: Adapter, node: Node, recorded: Sequence[Path]) -> Sequence[Path]:
    """Return what the node's own configuration names; what was `recorded` if that names nothing."""
    try:
        return adapter.data_directories(node, begun=True)
    except Unnamed:
        return recorded


def _all_empty(host: Host, directories: Sequence[Path]) -> bool:
    """Whether nothing is in any of them; not, where that cannot be told."""
    try:
        return not any(host.entries(each) for each in directories)
    except BrownoutError:
        return False


def _paths(directories: Sequence[Path]) -> str:
    return ", ".join(f"`{each}`" for each in directories) or "no directory"
