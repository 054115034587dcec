"""Which nodes a target means. Pure."""

from collections.abc import Mapping, Sequence

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.choice import ROLES, all_serving, of_rack, of_role, one
from brownout.inventory.model import Cluster

__all__ = ["check", "choose"]

#: Words that people have for roles.
_OWN_WORDS = {"leader": "primary", "replica": "secondary", "standby": "secondary"}


def choose(
    select: str, members: Sequence[Member], seed: int, racks: Mapping[str, str]
) -> list[str]:
    """Return the names of the nodes that `select` means; `racks` has the rack of each node.

    `primary` (or `leader`), `replica` (`secondary`, `standby`) and `random` give one node,
    `role=replica` every one of that role, `rack=r1` every one in that rack that serves, `rack`
    those of a rack that the seed draws, a name that node. Raises `ConfigurationError` with the
    choices for anything else, and `ClusterError` if no member is so now.
    """
    names = [member.node for member in members]
    if select in names:
        return [select]
    role = select.removeprefix("role=")
    role = _OWN_WORDS.get(role, role)
    if role in ROLES and select.startswith("role="):
        return of_role(members, role) or [one(members, role, seed)]
    if role in (*ROLES, "random"):
        return [one(members, role, seed)]
    known = sorted({racks[name] for name in names if racks.get(name)})
    rack = select.removeprefix("rack=")
    if known and (select == "rack" or (rack != select and rack in known)):
        return of_rack(members, "" if select == "rack" else rack, racks, seed)
    choices = f", rack or rack= one of {', '.join(known)}" if known else ""
    raise ConfigurationError(
        f"target: found {select!r}, wanted a node ({', '.join(names)}), primary, replica, random, "
        f"role=primary or role=replica{choices}"
    )


def check(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of `cluster` even if every one of them served."""
    choose(select, all_serving(cluster.nodes), 1, {node.name: node.rack for node in cluster.nodes})
