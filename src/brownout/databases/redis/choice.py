"""Which nodes a target means. Pure."""

from collections.abc import Mapping, Sequence

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.choice import ROLES, all_serving, of_rack, of_role, one
from brownout.inventory.model import Cluster

__all__ = ["check", "choose"]

#: Redis's own words for roles.
_OWN_WORDS = {"master": "primary", "replica": "secondary"}


def choose(
    select: str,
    members: Sequence[Member],
    seed: int,
    racks: Mapping[str, str],
    shards: Mapping[str, str],
) -> list[str]:
    """Return the names of the nodes that `select` means; `racks` and `shards` have each node's.

    `master` (or `primary`), `replica` (`secondary`) and `random` give one node, `role=replica`
    every one of that role, `rack=r1` every one in that rack that serves, `rack` those of a rack
    that the seed draws, a name that node; `master@s1` asks one shard. Raises `ConfigurationError`
    with the choices for anything else, and `ClusterError` if no node is so now.
    """
    names = [member.node for member in members]
    if select in names:
        return [select]
    what, at, shard = select.partition("@")
    of = sorted({name for name in shards.values() if name})
    if at and shard not in of:
        wanted = f"one of the shards {', '.join(of)}" if of else "no `@`: no node names its `shard`"
        raise ConfigurationError(f"target: found {select!r}, wanted {wanted}")
    asked = [member for member in members if not at or shards.get(member.node) == shard]
    role = what.removeprefix("role=")
    role = _OWN_WORDS.get(role, role)
    if role in ROLES and what.startswith("role="):
        return of_role(asked, role) or [one(asked, role, seed)]
    if role in (*ROLES, "random"):
        return [one(asked, role, seed)]
    known = sorted({racks[name] for name in names if racks.get(name)})
    rack = what.removeprefix("rack=")
    if known and (what == "rack" or (rack != what and rack in known)):
        return of_rack(asked, "" if what == "rack" else rack, racks, seed)
    choices = f", rack or rack= one of {', '.join(known)}" if known else ""
    choices += f", or one of these and @ with {', '.join(of)}" if of else ""
    raise ConfigurationError(
        f"target: found {select!r}, wanted a node ({', '.join(names)}), master, replica, random, "
        f"role=master or role=replica{choices}"
    )


def check(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of `cluster` even if every one of them served."""
    shards = {node.name: node.shard for node in cluster.nodes}
    members = [
        member
        for shard in dict.fromkeys(shards.values())
        for member in all_serving([node for node in cluster.nodes if node.shard == shard])
    ]
    choose(select, members, 1, {node.name: node.rack for node in cluster.nodes}, shards)
