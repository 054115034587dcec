"""Which nodes a run is about: what its `target` says, asked of the cluster."""

from collections.abc import Sequence

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Adapter, Wording
from brownout.databases.choice import Targets
from brownout.faults.aim import Aim
from brownout.inventory.database import database
from brownout.inventory.model import Cluster, Node

__all__ = ["ADDED", "BROKEN", "SPARE", "TARGET", "Chosen", "aim_at", "check_target", "next_spare"]
__all__ += ["targets_of"]

#: Means the node that the run's target means; see `Aim`.
TARGET = "target"

#: Means the first spare that is not a member now.
SPARE = "spare"
#: Means the node that this run added last.
ADDED = "added"
#: Means the node that this run broke last and has not put back.
BROKEN = "broken"


class Chosen:
    """Which nodes a run broke by a word, as `primary`, so that an undo by that word means them.

    A role moves: who is primary when the undo comes may be another one than was broken.
    """

    def __init__(self) -> None:
        self._nodes: list[tuple[str, Node]] = []

    def note(self, word: str, node: Node) -> None:
        """Note that `node` is about to be broken as `word`."""
        self._nodes.append((word, node))

    def find(self, word: str, pending: Sequence[str]) -> Node | None:
        """Return the node that was first broken as `word` of those in `pending`; else the last.

        None where none was broken as that.
        """
        meant = [node for chosen, node in self._nodes if chosen == word]
        waiting = [node for node in meant if node.name in pending]
        return waiting[0] if waiting else meant[-1] if meant else None


def targets_of(select: str, cluster: Cluster, adapter: Adapter, seed: int) -> list[Node]:
    """Return the nodes that `select` means: a spare, or what the adapter makes of it.

    Raises `ClusterError` or `ConfigurationError` where there is none.
    """
    if select == SPARE:
        return [next_spare(cluster, ())]
    return adapter.targets(select, seed)


def aim_at(select: str, cluster: Cluster, adapter: Adapter, seed: int) -> Aim:
    """Return whom a run with the target `select` breaks.

    A role and a rack are chosen again until the first break. A name stays that node, and `random`
    what the seed drew. Raises what `targets_of` does.
    """
    names = [TARGET, SPARE, *(node.name for node in cluster.every)]
    if select in names or select == "random":
        fixed = targets_of(select, cluster, adapter, seed)
        return Aim(lambda: fixed)
    wording = adapter if isinstance(adapter, Wording) else Targets()
    return Aim(lambda: targets_of(select, cluster, adapter, seed), wording.role_asked(select))


def check_target(select: str, cluster: Cluster) -> None:
    """Refuse a `select` that would mean no node of the cluster even if every one of them served.

    Nothing is asked. Raises `ClusterError` or `ConfigurationError`.
    """
    if select == SPARE:
        next_spare(cluster, ())
        return
    database(cluster.database).check_target(select, cluster)


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
