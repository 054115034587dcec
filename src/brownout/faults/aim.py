"""Whom a run breaks: what its target means at the first break, and for good from then.

A role moves: a primary that was chosen before the baseline may be a secondary when it is killed. So
what was chosen earlier is a plan, and is chosen again until one of its nodes is broken.

    plan ──▶ chosen again with each activity ──▶ guards ──▶ role asked again ──▶ intent: settled
                                                              └─ it moved: `RoleMoved`, all again
"""

from collections.abc import Callable, Sequence

from brownout.base.errors import BrownoutError, Refused
from brownout.databases.adapter import Adapter
from brownout.inventory.model import Node

__all__ = ["Aim", "RoleMoved", "role_now"]


class RoleMoved(Refused):
    """The node lost the role that was asked for between its choice and its break."""


class Aim:
    """The nodes that a run's target means; `choose` chooses them, by what they are now.

    `role` is the role that was asked for, `primary` or `secondary`; empty where the user named a
    node, or asked for one of whatever role.
    """

    def __init__(self, choose: Callable[[], Sequence[Node]], role: str = "") -> None:
        self._choose, self.role = choose, role
        self._nodes = tuple(choose())
        self._broken: set[str] = set()

    @property
    def planned(self) -> tuple[Node, ...]:
        """The nodes as they were chosen last; they are not chosen again for this."""
        return self._nodes

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes that are meant now: chosen again until the first of them is broken."""
        if not self._broken:
            self._nodes = tuple(self._choose())
        return self._nodes

    def role_of(self, node: str) -> str:
        """Return the role that `node` must have when it is broken; empty for none.

        A node that was broken already is meant whatever it is now: its second break belongs to the
        same fault.
        """
        meant = any(each.name == node for each in self._nodes)
        return self.role if meant and node not in self._broken else ""

    def settle(self, node: str | None) -> None:
        """Note that `node` is broken: if it is meant, no other one is from now on."""
        if any(each.name == node for each in self._nodes):
            self._broken.add(str(node))


def role_now(adapter: Adapter, node: str) -> str:
    """Return the role of `node` by the account of the database; empty for a node without one."""
    try:
        members = adapter.members()
    except BrownoutError:
        return "unknown"
    return next((member.role for member in members if member.node == node), "")
