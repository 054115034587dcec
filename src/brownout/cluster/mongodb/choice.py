"""Choosing nodes by what they are now. Pure: the same members and seed give the same nodes."""

import random
from collections.abc import Sequence

from brownout.cluster.adapter import Member
from brownout.errors import ClusterError, ConfigurationError

__all__ = ["choose"]

ROLES = ("primary", "secondary")


def choose(select: str, members: Sequence[Member], seed: int) -> list[str]:
    """Return the names of the nodes that `select` means.

    `primary`, `secondary` and `random` give one node, `role=secondary` every one of that role,
    a name that node. Raises `ConfigurationError` with the choices for anything else, and
    `ClusterError` if no member has the role now.
    """
    names = [member.node for member in members]
    if select in names:
        return [select]
    if select == "random":
        return _one(members, "serves", [m.node for m in members if m.healthy], seed)
    if select in ROLES:
        return _one(members, f"is {select}", _of_role(members, select), seed)
    role = select.removeprefix("role=")
    if role != select and role in ROLES:
        found = _of_role(members, role)
        return found or _one(members, f"is {role}", found, seed)
    raise ConfigurationError(
        f"target: found {select!r}, wanted a node ({', '.join(names)}), primary, secondary, "
        "random, role=primary or role=secondary"
    )


def _of_role(members: Sequence[Member], role: str) -> list[str]:
    return [member.node for member in members if member.role == role]


def _one(members: Sequence[Member], wanted: str, found: list[str], seed: int) -> list[str]:
    if not found:
        states = ", ".join(f"{member.node} is {member.state}" for member in members)
        raise ClusterError(f"no member {wanted} now: {states}")
    return [random.Random(seed).choice(found)]
