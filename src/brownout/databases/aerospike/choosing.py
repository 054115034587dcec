"""Which nodes a `select` means. Pure but for asking `members`."""

import random
from collections.abc import Callable, Sequence

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.aerospike.racks import on_rack
from brownout.inventory.model import Cluster, Node

__all__ = ["check", "choose"]

_ROLES = ("primary", "secondary", "random")


def choose(
    select: str, seed: int, nodes: Sequence[Node], members: Callable[[], list[Member]]
) -> list[Node]:
    """Return the nodes of a name, a role or a rack; the same for a seed.

    A role is one node, drawn by the seed; `rack=NAME` are all healthy nodes of that rack, and
    `rack` those of one that the seed draws.
    """
    by_name = {node.name: node for node in nodes}
    if select in by_name:
        return [by_name[select]]
    if select == "rack" or select.startswith("rack="):
        return _of_rack(select.partition("=")[2], seed, nodes, members())
    if select not in _ROLES:
        raise ConfigurationError(
            f"target: found {select!r}, wanted a node ({', '.join(by_name)}), "
            f"{', '.join(_ROLES)}, rack or rack=NAME"
        )
    fitting = [m.node for m in members() if m.healthy and select in (m.role, "random")]
    if not fitting:
        raise ClusterError(f"no node is {select} now")
    return [by_name[random.Random(seed).choice(fitting)]]


def _of_rack(
    name: str, seed: int, nodes: Sequence[Node], members: Sequence[Member]
) -> list[Node]:  # fmt: skip
    racks = on_rack(nodes)
    if not racks:
        raise ConfigurationError(
            "target: found a rack, and the inventory gives no node a `rack`",
            "write `rack:` to each node, as its namespace's `rack-id` is",
        )
    drawn = name or random.Random(seed).choice(list(racks))
    if drawn not in racks:
        raise ConfigurationError(f"target: found rack {drawn!r}, wanted one of {', '.join(racks)}")
    healthy = {member.node for member in members if member.healthy}
    fitting = [node for node in racks[drawn] if node.name in healthy]
    if not fitting:
        raise ClusterError(f"no node of rack {drawn} is in the cluster now")
    return fitting


def check(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of `cluster` even if every one of them served."""
    roles = ["primary", *["secondary"] * len(cluster.nodes)]
    serving = [Member(node.name, node.address, role, role, True)
               for node, role in zip(cluster.nodes, roles, strict=False)]  # fmt: skip
    choose(select, 1, cluster.nodes, lambda: serving)
