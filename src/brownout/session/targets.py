"""Which nodes a run is about: what its `target` says, asked of the cluster once, at the start."""

from collections.abc import Sequence

from brownout.cluster.adapter import Adapter
from brownout.cluster.model import Cluster, Node
from brownout.errors import ClusterError

__all__ = ["ADDED", "SPARE", "next_spare", "targets_of"]

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
