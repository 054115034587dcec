"""A load by itself, without an experiment: what is asked before it, and its hold on the cluster.

It breaks nothing, but it drives a cluster as hard as it is told to, and writes to it: beside a run
it would measure that run's fault and take its ledger's keys.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.faults import cluster_record, guards, open_runs
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.heal import make_free
from brownout.faults.open_runs import Claim
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.load.cluster_claim import ClusterClaim, Holder
from brownout.load.workload import Workload
from brownout.session import in_cluster

__all__ = ["Hold", "check_allowed", "taken"]

Say = Callable[[str], None]


def check_allowed(cluster: Cluster, confirmation: str, say: Say, needs: Iterable[str] = ()) -> None:
    """Ask the guards, and that no other run has `cluster`; raises `Refused` for either.

    `needs` is what the runs of an experiment that belong to it will do.
    """
    guards.refuse(guards.of_cluster(cluster, needs, confirmation, datetime.now(UTC)))
    make_free(cluster, say)


class Hold:
    """What a load by itself has of a cluster: the claim here, and the one in the cluster."""

    def __init__(self, cluster: Cluster, workload: Workload, held: Claim, say: Say) -> None:
        self._cluster, self._workload, self._held, self._say = cluster, workload, held, say
        self._in_cluster: ClusterClaim | None = None

    def take(self) -> None:
        """Take the claim in the cluster. A lab that we brought up is unknown to others."""
        if self._held.brought_up:
            return
        adapter = adapter_for(self._cluster)
        try:
            self._in_cluster = in_cluster.take(
                adapter, self._workload, self._held, self._say, self._lost
            )
        except Refused:
            with suppress(OSError):
                Path(self._held.run).rmdir()  # where nothing is in it, it is not a run
            raise
        finally:
            adapter.close()

    def release(self) -> None:
        """Remove it."""
        if self._in_cluster is not None:
            self._in_cluster.release()
            self._in_cluster = None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let another process have the cluster while the block lasts, then take it again."""
        self.release()
        with open_runs.lent(self._cluster.name):
            yield
        self.take()

    def _lost(self, other: Holder) -> None:
        self._say(f"another load or run began on this cluster meanwhile: {other}")


@contextmanager
def taken(
    cluster: Cluster,
    workload: Workload,
    directory: Path,
    named: str,
    *,
    brought_up: bool,
    say: Say,
) -> Iterator[Hold]:
    """Have `cluster`, which the inventory `named` so describes, for `workload` during the block.

    A lab that was `brought_up` for it is taken down before another run can take it.
    """
    path, nodes, namespace = str(inventory.path_of(named)), nodes_of(cluster), workload.namespace
    with open_runs.holding(
        cluster.name, directory, path, brought_up=brought_up, nodes=nodes, namespace=namespace
    ) as held:
        hold = Hold(cluster, workload, held, say)
        try:
            hold.take()
            cluster_record.write(directory, named, cluster, look=False)
            yield hold
        finally:
            hold.release()
            if brought_up:
                lab.down(cluster, progress=say)
