"""Which nodes a run is about: what its `target` says, asked of the cluster once, at the start."""

from collections.abc import Sequence

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Adapter, Member
from brownout.inventory.model import Cluster, Node

__all__ = ["ADDED", "SPARE", "TARGET", "check_target", "next_spare", "targets_of"]

#: Means the node that was chosen when the run began.
TARGET = "target"

#: Means the first spare that is no member now.
SPARE = "spare"
#: Means the node that this run added last.
ADDED = "added"


def targets_of(select: str, cluster: Cluster, adapter: Adapter, seed: int) -> list[Node]:
    """Return the nodes that `select` means: a spare, or what the adapter makes of it.

    Raises `ClusterError` or `ConfigurationError` where there is none.
    """
    if select == SPARE:
        return [next_spare(cluster, ())]
    return adapter.targets(select, seed)


def check_target(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of the cluster even if every one of them served.

    Nothing is asked. Raises `ClusterError` or `ConfigurationError`. Of a database whose adapter
    is not ours, or not installed, nothing is said.
    """
    if select == SPARE:
        next_spare(cluster, ())
        return
    what, at, shard = select.partition("@") if cluster.database == "mongodb" else (select, "", "")
    shards = sorted({node.shard for node in cluster.nodes if node.shard})
    if at and shard not in shards:
        wanted = f"one of the shards {', '.join(shards)}" if shards else "no `@`: it has no shards"
        raise ConfigurationError(f"target: found {select!r}, wanted {wanted}")
    nodes = [node for node in cluster.nodes if not at or node.shard == shard]
    roles = ["primary", *["secondary"] * len(nodes)]
    serving = [Member(node.name, node.address, role, role, True)
               for node, role in zip(nodes, roles, strict=False)]  # fmt: skip
    try:
        if cluster.database == "mongodb":
            from brownout.databases.mongodb import choice

            choice.choose(what, serving, 1, {node.name: node.rack for node in cluster.nodes})
        elif cluster.database == "aerospike":
            from brownout.databases.aerospike import choosing

            choosing.choose(what, 1, nodes, lambda: serving)
    except ModuleNotFoundError:
        return  # which package is lacking, `session.requirements` says


def next_spare(cluster: Cluster, members: Sequence[Node]) -> Node:
    """Return the first spare of the inventory that is not among `members`.

    Raises `ClusterError` where there is none.
    """
    for node in cluster.spares:
        if node not in members:
            return node
    taken = f", and {len(cluster.spares)} are members now" if cluster.spares else ""
    raise ClusterError(
        f"cluster `{cluster.name}` has no spare node to add{taken}",
        "list one under `spares` of the inventory; a lab makes them by `lab.spares`",
    )
