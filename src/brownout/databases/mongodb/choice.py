"""Choosing nodes by what they are now. Pure: the same members and seed give the same nodes."""

import random
from collections.abc import Mapping, Sequence

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.inventory.model import Cluster

__all__ = ["check", "choose"]

ROLES = ("primary", "secondary")


def choose(
    select: str, members: Sequence[Member], seed: int, racks: Mapping[str, str]
) -> list[str]:
    """Return the names of the nodes that `select` means; `racks` has the rack of each node.

    `primary`, `secondary` and `random` give one node, `role=secondary` every one of that role,
    `rack=r1` every one in that rack that serves, `rack` those of a rack that the seed draws, a
    name that node. Raises `ConfigurationError` with the choices for anything else, and
    `ClusterError` if no member is so now.
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
    known = sorted({racks[name] for name in names if racks.get(name)})
    if known and select == "rack":
        return _of_rack(members, None, racks, seed)
    rack = select.removeprefix("rack=")
    if rack != select and rack in known:
        return _of_rack(members, rack, racks, seed)
    choices = f", rack or rack= one of {', '.join(known)}" if known else ""
    raise ConfigurationError(
        f"target: found {select!r}, wanted a node ({', '.join(names)}), primary, secondary, "
        f"random, role=primary or role=secondary{choices}"
    )


def _of_rack(
    members: Sequence[Member], rack: str | None, racks: Mapping[str, str], seed: int
) -> list[str]:
    """Return who serves in `rack`; for None in a rack where somebody does, drawn by the seed."""
    serving = [member.node for member in members if member.healthy and racks.get(member.node)]
    there = sorted({racks[name] for name in serving})
    drawn = rack or _one(members, "of a rack serves", there, seed)[0]
    found = [name for name in serving if racks[name] == drawn]
    return found or _one(members, f"in rack {drawn} serves", found, seed)


def _of_role(members: Sequence[Member], role: str) -> list[str]:
    return [member.node for member in members if member.role == role]


def _one(members: Sequence[Member], wanted: str, found: list[str], seed: int) -> list[str]:
    if not found:
        states = ", ".join(f"{member.node} is {member.state}" for member in members)
        raise ClusterError(f"no member {wanted} now: {states}")
    return [random.Random(seed).choice(found)]


def check(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of `cluster` even if every one of them served."""
    what, at, shard = select.partition("@")
    shards = sorted({node.shard for node in cluster.nodes if node.shard})
    if at and shard not in shards:
        wanted = f"one of the shards {', '.join(shards)}" if shards else "no `@`: it has no shards"
        raise ConfigurationError(f"target: found {select!r}, wanted {wanted}")
    nodes = [node for node in cluster.nodes if not at or node.shard == shard]
    roles = ["primary", *["secondary"] * len(nodes)]
    serving = [Member(node.name, node.address, role, role, True)
               for node, role in zip(nodes, roles, strict=False)]  # fmt: skip
    choose(what, serving, 1, {node.name: node.rack for node in cluster.nodes})
