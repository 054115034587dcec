"""A pause of the whole cluster, and its end."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from brownout.atlas.objections import of_pause
from brownout.base.errors import ClusterError
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.atlas.by_atlas import UNHURRIED, ByAtlas, await_whole
from brownout.faults.atlas.cluster_state import asking, state_of
from brownout.faults.atlas.request import already
from brownout.faults.fault import Fault, Undo
from brownout.inventory.model import Cluster
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["PauseCluster", "ResumeCluster"]


class PauseCluster(ByAtlas, Fault):
    """Stop the whole cluster: no reads or writes until `resume_cluster`. For a game day.

    Refused on NVMe, and within 60 minutes of the last resume. Undone by the rollback too.
    """

    name, act, words = "pause_cluster", "pause_cluster", "Atlas paused the cluster"
    undo_name = "resume_cluster"

    def run(
        self,
        faults: "Faults",
        node: None,
        begins_within_s: float = 900.0,
        done_within_s: float = 1800.0,
    ) -> Evidence:
        """Have Atlas stop the cluster; effective when a driver lost the first member."""
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):
            objections = of_pause(state_of(client, events=True), datetime.now(UTC))
            self.refuse(faults, objections)
            await_whole(faults, request)

            def do() -> Proof:
                request.send(client.pause)
                return request.member_lost()

            def finish() -> dict[str, Any]:
                request.until(
                    lambda: request.is_idle() and client.cluster().paused, "it is not paused"
                )
                if not request.watch.await_nobody(done_within_s, faults.stopped):
                    raise ClusterError("Atlas says that it is paused, and a member still serves")
                return request.seen()

            act = Act("break", self.name, None, PendingUndo(self.undo_name, None))
            return faults.perform(act, do, finish)


class ResumeCluster(ByAtlas, Undo):
    """Start a paused cluster; effective when a driver sees every member and a primary.

    Does nothing to one that is not paused.
    """

    name, act, words = "resume_cluster", "pause_cluster", "Atlas resumed the cluster"

    def run(
        self,
        faults: "Faults",
        node: None,
        begins_within_s: float = 1800.0,
        done_within_s: float = 1800.0,
    ) -> Evidence:
        """Have Atlas start the cluster again."""
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):

            def do() -> Proof:
                request.until(request.is_idle, "Atlas is still at work")
                if not client.cluster().paused:
                    return already("the cluster is not paused")
                request.send(client.resume)
                return request.serving(len(faults.cluster.nodes))

            return faults.perform(Act("mend", self.name, None), do, request.applied)

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Resume it, whatever Atlas is doing now."""
        self.run(faults, None, *UNHURRIED)

    def is_due_for(self, cluster: Cluster) -> bool:
        """Atlas has the cluster paused: a run takes only a whole one, so it came later."""
        with asking(cluster) as client:
            return client.cluster().paused
