"""A load by itself, without an experiment: what is asked before it, and its hold on the cluster.

It breaks nothing, but it drives a cluster as hard as it is told to, and writes to it: beside a run
it would measure that run's fault and take its ledger's keys.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from brownout.faults import cluster_record, guards, open_runs
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.heal import make_free
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster

__all__ = ["check_allowed", "taken"]

Say = Callable[[str], None]


def check_allowed(cluster: Cluster, confirmation: str, say: Say, needs: Iterable[str] = ()) -> None:
    """Ask the guards, and that nobody else has `cluster`; raises `Refused` for either.

    `needs` is what the runs of an experiment that belong to it will do.
    """
    guards.refuse(guards.of_cluster(cluster, needs, confirmation, datetime.now(UTC)))
    make_free(cluster, say)


@contextmanager
def taken(
    cluster: Cluster, directory: Path, named: str, *, brought_up: bool, say: Say
) -> Iterator[None]:
    """Have `cluster`, which the inventory `named` so describes, while the block lasts.

    A lab that was `brought_up` for it is taken down before anybody else can have it.
    """
    path, nodes = str(inventory.path_of(named)), nodes_of(cluster)
    with open_runs.holding(cluster.name, directory, path, brought_up=brought_up, nodes=nodes):
        try:
            cluster_record.write(directory, named, cluster, look=False)
            yield
        finally:
            if brought_up:
                lab.down(cluster, progress=say)
