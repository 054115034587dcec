"""Which nodes a target means. Pure but for asking `members`."""

from collections.abc import Callable, Sequence

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.choice import ROLES, all_serving, of_rack, one
from brownout.inventory.model import Cluster, Node

__all__ = ["check", "choose"]

_DRAWN = (*ROLES, "random")


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
    if select in _DRAWN:
        return [by_name[one(members(), select, seed)]]
    if select != "rack" and not select.startswith("rack="):
        raise ConfigurationError(
            f"target: found {select!r}, wanted a node ({', '.join(by_name)}), "
            f"{', '.join(_DRAWN)}, rack or rack=NAME"
        )
    racks = {node.name: node.rack for node in nodes if node.rack}
    rack, names = select.partition("=")[2], sorted(set(racks.values()))
    if not names:
        raise ConfigurationError(
            "target: found a rack, and the inventory gives no node a `rack`",
            "write `rack:` to each node, as its namespace's `rack-id` is",
        )
    if rack and rack not in names:
        raise ConfigurationError(f"target: found rack {rack!r}, wanted one of {', '.join(names)}")
    return [by_name[name] for name in of_rack(members(), rack, racks, seed)]


def check(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of `cluster` even if every one of them served."""
    choose(select, 1, cluster.nodes, lambda: all_serving(cluster.nodes))
