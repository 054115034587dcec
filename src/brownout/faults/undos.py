"""The undos that are pending: one list, from memory and from a run's events alike. Pure.

    a fault's intent ──▶ pending ──▶ its undo's proof ──▶ resolved

Each is on disk before the act that leaves it, as the `undo` of the act's event. What is done to a
node is undone first, node by node and within one by rank: its disk is put right, a wipe that was
cut short is finished, its process is put right, then its database is asked. Changes of the cluster
follow, the latest first.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from brownout.faults import registry
from brownout.faults.act import FINISH_WIPE, PROCESS, Pending, PendingUndo
from brownout.inventory.model import Node
from brownout.run.events import Event

__all__ = ["add", "away", "breaks", "broken", "by_place", "changed", "describe", "in_order", "left"]
__all__ += ["members", "resolve", "resolves", "serving"]

_THEN = " then "


def add(pending: Sequence[PendingUndo], new: PendingUndo) -> Pending:
    """Return what is pending after an act that leaves `new`; the first value of one is kept."""
    if any(each.is_for(new.action, new.node, new.setting) for each in pending):
        return tuple(pending)
    rest = [each for each in pending if not _replaces(new, each)]
    return (*rest, new)


def changed(before: Pending, after: Pending) -> tuple[Pending, Pending]:
    """Return what is pending `after` and was not `before`, and what was and is not any more."""
    added = tuple(each for each in after if each not in before)
    return added, tuple(each for each in before if each not in after)


def resolve(
    pending: Sequence[PendingUndo], action: str, node: str | None, setting: str = ""
) -> Pending:
    """Return what is still pending after this was done."""
    return tuple(each for each in pending if not each.is_for(action, node, setting))


def resolves(
    pending: Sequence[PendingUndo], action: str, node: str | None, setting: str = ""
) -> bool:
    """Return whether a fault of this name puts back what is pending, and so leaves nothing."""
    undo = registry.undo_named(action)
    same_name = undo is not None and undo.same_name
    return not same_name and any(each.is_for(action, node, setting) for each in pending)


def left(events: Iterable[Event]) -> Pending:
    """Return what a run's events leave pending, the oldest first.

    A fault counts from its intent on, since the run may have died between intent and proof; an
    undo counts only with its proof. What its server or machine refused was never done.
    """
    pending: Pending = ()
    for event in events:
        if event.refused:
            continue
        setting = str((event.undo or event.arguments).get("setting", ""))
        if event.undo is not None:
            action, value = str(event.undo.get("action") or "?"), event.undo.get("value")
            pending = add(pending, PendingUndo(action, event.node, setting, value))
        elif event.evidence and _may_resolve(event):
            pending = resolve(pending, event.name, event.node, setting)
        if event.name == "wipe_node" and event.node is not None:
            pending = resolve(pending, FINISH_WIPE, event.node)
            if not event.evidence:
                pending = add(pending, PendingUndo(FINISH_WIPE, event.node, value=_begun(event)))
    return pending


def _begun(wipe: Event) -> tuple[Path, ...]:
    """Return the directories of a wipe that began.

    A record that does not say that it `began` is another version's, which wrote the intent before
    it asked the guards: it names no directory that may be emptied.
    """
    named = wipe.arguments.get("directories", []) if wipe.arguments.get("began") is True else []
    return tuple(Path(directory) for directory in named)


def _may_resolve(event: Event) -> bool:
    """A value is put back only by a mend; a node that was added may be removed by a fault."""
    undo = registry.undo_named(event.name)
    return event.type == "mend" or undo is None or not undo.same_name


def broken(pending: Iterable[PendingUndo]) -> dict[str, str]:
    """Return each node that is broken, with what it waits for: `{"n1": "start_node"}`."""
    return by_place(each for each in pending if each.node is not None and breaks(each))


def away(pending: Iterable[PendingUndo]) -> dict[str, str]:
    """Return what keeps members of the cluster away: `{"the cluster": "end_outage"}`."""
    return by_place(each for each in pending if each.node is None and breaks(each))


def breaks(pending: PendingUndo) -> bool:
    """Return whether nodes are broken while it is pending; of an unknown one, yes."""
    undo = registry.undo_named(pending.action)
    return undo is None or undo.breaks


def serving(action: str) -> bool:
    """Return whether the node or cluster serves as a whole while the undo `action` is pending."""
    undo = registry.undo_named(action)
    return not action or (undo is not None and (undo.serves or not undo.breaks))


def by_place(pending: Iterable[PendingUndo]) -> dict[str, str]:
    """Return what is pending for each node or the cluster: `{"n1": "start_node then …"}`."""
    places: dict[str, list[PendingUndo]] = {}
    for each in pending:
        places.setdefault(each.node or "the cluster", []).append(each)
    return {
        place: _THEN.join(_words(each) for each in sorted(undos, key=_rank))
        for place, undos in places.items()
    }


def describe(pending: PendingUndo) -> str:
    """Return it for people: `remove_node n6`, `replication_factor n2 back to 2`."""
    words = _words(pending)
    if pending.node is None:
        return words
    first, _, rest = words.partition(" ")
    return f"{first} {pending.node} {rest}".rstrip()


def in_order(pending: Sequence[PendingUndo]) -> Iterator[list[PendingUndo]]:
    """Yield what is pending in the order in which it is put back: what is yielded together is one.

    If one of these fails the rest of its list is not tried. A node whose wipe is to be finished
    comes after the other nodes: they have to have its data by then.
    """
    nodes: dict[str, list[PendingUndo]] = {}
    for each in pending:
        if each.node is not None and breaks(each):
            nodes.setdefault(each.node, []).append(each)
    of_nodes = [sorted(undos, key=_rank) for undos in nodes.values()]
    yield from sorted(of_nodes, key=lambda undos: undos[0].action == FINISH_WIPE)
    yield from ([each] for each in reversed(pending) if each.node is None or not breaks(each))


def members(
    nodes: Sequence[Node], every: Sequence[Node], pending: Sequence[PendingUndo]
) -> list[Node]:
    """Return who the cluster consists of while this is pending; `nodes` are its members else."""
    added = {each.node for each in pending if each.action == "remove_node"}
    removed = {each.node for each in pending if each.action == "add_node"}
    stay = [node for node in nodes if node.name not in removed]
    return [*stay, *(n for n in every if n.name in added and n not in stay)]


def _replaces(new: PendingUndo, old: PendingUndo) -> bool:
    return new.node is not None and new.node == old.node and _rank(new) == _rank(old) == PROCESS


def _rank(pending: PendingUndo) -> int:
    undo = registry.undo_named(pending.action)
    return PROCESS + 1 if undo is None else undo.rank


def _words(pending: PendingUndo) -> str:
    undo = registry.undo_named(pending.action)
    return pending.action if undo is None else undo.describe(pending)
