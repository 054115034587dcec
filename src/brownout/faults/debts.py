"""What a planned change of a cluster leaves to be put back: nodes, settings, what others did. Pure.

A node that was added is owed a removal, a setting its value before, an outage its end. The latest
change is put back first. A change that takes back an owed one owes nothing, and pays for it once it
is proven.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.inventory.model import Node
from brownout.run.events import Event

__all__ = [
    "ACTIONS",
    "OF_ATLAS",
    "OPEN",
    "STOP_ENGINE",
    "WAS_EMPTY",
    "Debt",
    "away",
    "by_place",
    "is_open",
    "left",
    "members",
    "owe",
]
__all__ += ["paid", "pays"]

#: What a ChaosEngine of Litmus is owed, by its namespace and name as the setting.
STOP_ENGINE = "stop_chaos_engine"
#: The value of a `remove_node` of a spare that held nothing when it was added.
WAS_EMPTY = "was empty"
#: While one of these is owed, members are gone, or may be at any moment.
OPEN = frozenset({"end_outage", "resume_cluster", STOP_ENGINE})
#: These are done and put back under one name: doing it again is no payment, a mend is.
_VALUES = frozenset({"adjust", "resize_cluster", "set_maintenance_window"})
OF_ATLAS = frozenset({"end_outage", "resume_cluster", "resize_cluster", "set_maintenance_window"})
ACTIONS = frozenset({"add_node", "remove_node", "adjust", STOP_ENGINE}) | OF_ATLAS


@dataclass(frozen=True, slots=True)
class Debt:
    """One thing to put back: `Debt("remove_node", "n6")`, `Debt("adjust", None, "…", 2)`.

    `setting` and `value` are those of an `adjust`; `node` is None for a setting of the cluster.
    The `value` of a `remove_node` may be `WAS_EMPTY`; that of an `add_node` is the say that the
    node had, where its database has such a thing; that of a `resize_cluster` or a
    `set_maintenance_window` is what Atlas is to be sent; that of a `stop_chaos_engine` how its API
    server is reached.
    """

    action: str
    node: str | None
    setting: str = ""
    value: Any = None

    def undo(self) -> dict[str, Any]:
        """Return it as the `undo` of an event."""
        undo = {"action": self.action, "setting": self.setting, "value": self.value}
        return {key: value for key, value in undo.items() if value not in ("", None)}

    def words(self) -> str:
        """Return it for people: `remove_node n6`, `replication_factor back to 2`."""
        where = f" {self.node}" if self.node else ""
        if self.action == STOP_ENGINE:
            return f"{self.action} {self.setting}"
        if self.action != "adjust":
            return f"{self.action}{where}"
        return f"{self.setting}{where} back to {self.value}"


def is_open(debts: Iterable[Debt]) -> bool:
    """Say whether members are gone until a debt is paid, so that no milestone counts."""
    return bool(away(debts))


def pays(debts: Sequence[Debt], action: str, node: str | None, setting: str = "") -> bool:
    """Say whether doing this puts back what is owed; giving a value does only as a mend."""
    return action not in _VALUES and _owed(debts, action, node, setting)


def _owed(debts: Iterable[Debt], action: str, node: str | None, setting: str) -> bool:
    return any((d.action, d.node, d.setting) == (action, node, setting) for d in debts)


def owe(debts: Sequence[Debt], debt: Debt) -> tuple[Debt, ...]:
    """Return the debts after a change that owes `debt`; the first value of a setting is kept."""
    if _owed(debts, debt.action, debt.node, debt.setting):
        return tuple(debts)
    return (*debts, debt)


def paid(
    debts: Sequence[Debt], action: str, node: str | None, setting: str = ""
) -> tuple[Debt, ...]:
    """Return the debts that are left after this was done."""
    return tuple(d for d in debts if (d.action, d.node, d.setting) != (action, node, setting))


def left(events: Iterable[Event]) -> tuple[Debt, ...]:
    """Return what a run's events leave to be put back, the oldest first.

    A change counts from its intent on, since the run may have died between intent and proof; a
    payment counts only with its proof.
    """
    debts: tuple[Debt, ...] = ()
    for event in events:
        action = str((event.undo or {}).get("action", ""))
        setting = str((event.undo or event.arguments).get("setting", ""))
        if event.undo is not None and action in ACTIONS:
            debts = owe(debts, Debt(action, event.node, setting, event.undo.get("value")))
        elif event.evidence and _may_pay(event):
            debts = paid(debts, event.name, event.node, setting)
    return debts


def _may_pay(event: Event) -> bool:
    """A setting is put back only as a mend; a node that was added may be removed as a change."""
    return event.type == "mend" if event.name in _VALUES else event.name in ACTIONS


def by_place(debts: Iterable[Debt]) -> dict[str, str]:
    """Return what is owed to each node or setting: `{"n6": "remove_node"}`, `{"…": "back to 2"}`.

    A node that is owed two things has both.
    """
    found: dict[str, list[str]] = {}
    for debt in debts:
        what = debt.action if debt.action != "adjust" else f"{debt.setting} back to {debt.value}"
        found.setdefault(debt.node or "the cluster", []).append(what)
    return {place: " and ".join(what) for place, what in found.items()}


def away(debts: Iterable[Debt]) -> dict[str, str]:
    """Return what keeps members away now, as `by_place`: `{"the cluster": "end_outage"}`."""
    return by_place(debt for debt in debts if debt.action in OPEN)


def members(nodes: Sequence[Node], every: Sequence[Node], debts: Sequence[Debt]) -> list[Node]:
    """Return who the cluster consists of while `debts` are owed; `nodes` are its members else."""
    added = {debt.node for debt in debts if debt.action == "remove_node"}
    removed = {debt.node for debt in debts if debt.action == "add_node"}
    stay = [node for node in nodes if node.name not in removed]
    return [*stay, *(n for n in every if n.name in added and n not in stay)]
