"""What every database has in common in choosing nodes by what they are now. Pure.

The same members and seed give the same nodes. Each database's own `choice` says which targets it
knows.
"""

import random
from collections.abc import Mapping, Sequence

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Member
from brownout.inventory.model import Node

__all__ = ["ROLES", "all_serving", "of_rack", "of_role", "one"]

ROLES = ("primary", "secondary")


def one(members: Sequence[Member], select: str, seed: int) -> str:
    """Return the node of one member, drawn by the seed: of a role, or `random` of who serves."""
    if select == "random":
        return _drawn(members, "serves", [m.node for m in members if m.healthy], seed)
    return _drawn(members, f"is {select}", of_role(members, select), seed)


def of_role(members: Sequence[Member], role: str) -> list[str]:
    """Return every node of a role; none if no member has it."""
    return [member.node for member in members if member.role == role]


def of_rack(members: Sequence[Member], rack: str, racks: Mapping[str, str], seed: int) -> list[str]:
    """Return who serves in `rack`; without one in a rack where somebody does, drawn by the seed.

    `racks` has the rack of each node. Raises `ClusterError` where nobody serves.
    """
    serving = [member.node for member in members if member.healthy and racks.get(member.node)]
    there = sorted({racks[name] for name in serving})
    drawn = rack or _drawn(members, "of a rack serves", there, seed)
    found = [name for name in serving if racks[name] == drawn]
    return found or [_drawn(members, f"in rack {drawn} serves", found, seed)]


def all_serving(nodes: Sequence[Node]) -> list[Member]:
    """Return them as members that all serve, the first one as their primary."""
    roles = ["primary", *["secondary"] * len(nodes)]
    return [Member(node.name, node.address, role, role, True)
            for node, role in zip(nodes, roles, strict=False)]  # fmt: skip


def _drawn(members: Sequence[Member], wanted: str, found: list[str], seed: int) -> str:
    if not found:
        states = ", ".join(f"{member.node} is {member.state}" for member in members)
        raise ClusterError(f"no member {wanted} now: {states}")
    return random.Random(seed).choice(found)
