"""Which nodes a target means, by what they are now. Pure.

The same members and seed give the same nodes. `Targets` has a database's own words for roles.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.inventory.model import Cluster, Node

__all__ = ["ROLES", "Targets", "all_serving", "of_rack", "one"]

ROLES = ("primary", "secondary")


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a database, with its own words for the two roles.

    The general words are known as well, and `others`: word -> role.
    """

    primary: str = "primary"
    secondary: str = "secondary"
    others: Mapping[str, str] = field(default_factory=dict)

    def choose(
        self,
        select: str,
        members: Sequence[Member],
        seed: int,
        racks: Mapping[str, str],
        shards: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Return the names of the nodes that `select` means; `racks` and `shards` have each node's.

        `primary`, `secondary` and `random` give one node, `role=secondary` every one of that role,
        `rack=r1` every one in that rack that serves, `rack` those of a rack that the seed draws, a
        name that node; `primary@s1` asks one shard. Raises `ConfigurationError` with the choices
        for anything else, and `ClusterError` if no member is so now.
        """
        names = [member.node for member in members]
        if select in names:
            return [select]
        what, at, shard = select.partition("@")
        shard_of = shards or {}
        shards_known = sorted({name for name in shard_of.values() if name})
        if at and shard not in shards_known:
            there = ", ".join(shards_known)
            wanted = f"one of the shards {there}" if there else "no `@`: it has no shards"
            raise ConfigurationError(f"target: found {select!r}, wanted {wanted}")
        asked = [member for member in members if not at or shard_of.get(member.node) == shard]
        role = self._role(what.removeprefix("role="))
        if role in ROLES and what.startswith("role="):
            return _of_role(asked, role) or [one(asked, role, seed)]
        if role in (*ROLES, "random"):
            return [one(asked, role, seed)]
        names_of_racks = sorted({racks[name] for name in names if racks.get(name)})
        rack = what.removeprefix("rack=")
        if names_of_racks and (what == "rack" or (rack != what and rack in names_of_racks)):
            return of_rack(asked, "" if what == "rack" else rack, racks, seed)
        choices = f", rack or rack= one of {', '.join(names_of_racks)}" if names_of_racks else ""
        choices += f", or one of these and @ with {', '.join(shards_known)}" if shards_known else ""
        raise ConfigurationError(
            f"target: found {select!r}, wanted a node ({', '.join(names)}), {self.primary}, "
            f"{self.secondary}, random, role={self.primary} or role={self.secondary}{choices}"
        )

    def check(self, select: str, cluster: Cluster) -> None:
        """Refuse a `select` that would mean no node of `cluster` even if every one served."""
        shards = {node.name: node.shard for node in cluster.nodes}
        members = [
            member
            for shard in dict.fromkeys(shards.values())
            for member in all_serving([node for node in cluster.nodes if node.shard == shard])
        ]
        racks = {node.name: node.rack for node in cluster.nodes}
        self.choose(select, members, 1, racks, shards)

    def role_words(self) -> dict[str, str]:
        """Return the database's own word for each of the two roles."""
        return {"primary": self.primary, "secondary": self.secondary}

    def role_asked(self, select: str) -> str:
        """Return the role that `select` asks for, `primary` or `secondary`; empty for none."""
        role = self._role(select.partition("@")[0].removeprefix("role="))
        return role if role in ROLES else ""

    def _role(self, word: str) -> str:
        own = {self.primary: "primary", self.secondary: "secondary"}
        return {**own, **self.others}.get(word, word)


def one(members: Sequence[Member], select: str, seed: int) -> str:
    """Return the node of one member, drawn by the seed: of a role, or `random` of who serves."""
    if select == "random":
        return _drawn(members, "serves", [m.node for m in members if m.healthy], seed)
    return _drawn(members, f"is {select}", _of_role(members, select), seed)


def _of_role(members: Sequence[Member], role: str) -> list[str]:
    return [member.node for member in members if member.role == role]


def of_rack(members: Sequence[Member], rack: str, racks: Mapping[str, str], seed: int) -> list[str]:
    """Return who serves in `rack`; without one, in a serving rack drawn by the seed.

    `racks` has the rack of each node. Raises `ClusterError` where no node serves.
    """
    serving = [member.node for member in members if member.healthy and racks.get(member.node)]
    there = sorted({racks[name] for name in serving})
    drawn = rack or _drawn(members, "of a rack serves", there, seed)
    in_rack = [name for name in serving if racks[name] == drawn]
    return in_rack or [_drawn(members, f"in rack {drawn} serves", in_rack, seed)]


def all_serving(nodes: Sequence[Node]) -> list[Member]:
    """Return them as members that all serve, the first one as their primary."""
    roles = ["primary", *["secondary"] * len(nodes)]
    return [Member(node.name, node.address, role, role, True)
            for node, role in zip(nodes, roles, strict=False)]  # fmt: skip


def _drawn(members: Sequence[Member], wanted: str, in_rack: list[str], seed: int) -> str:
    if not in_rack:
        states = ", ".join(f"{member.node} is {member.state}" for member in members)
        raise ClusterError(f"no member {wanted} now: {states}")
    return random.Random(seed).choice(in_rack)
