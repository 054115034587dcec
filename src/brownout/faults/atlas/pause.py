"""A pause of the whole cluster, and its end."""

from datetime import UTC, datetime
from typing import Any

from brownout.atlas.objections import of_pause
from brownout.base.errors import ClusterError
from brownout.faults.acts import Evidence
from brownout.faults.atlas.asking import asking, state_of
from brownout.faults.atlas.request import Limits, already
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.machine.host import Proof

__all__ = ["OWED", "pause", "resume"]

OWED = Debt("resume_cluster", None)


def pause(scene: Scene, limits: Limits) -> Evidence:
    """Have Atlas stop the cluster; effective when a driver lost the first member."""
    with asking(scene.cluster) as client, scene.request(client, limits) as request:
        objections = of_pause(state_of(client, events=True), datetime.now(UTC))
        scene.refuse("pause_cluster", objections)
        scene.await_whole(request)

        def do() -> Proof:
            request.send(client.pause)
            return request.member_lost()

        def finish() -> dict[str, Any]:
            request.until(lambda: request.is_idle() and client.cluster().paused, "it is not paused")
            if not request.watch.await_nobody(limits.done_within_s, scene.stopped):
                raise ClusterError("Atlas says that it is paused, and a member still serves")
            return request.seen()

        return scene.making.make("break", "pause_cluster", OWED, do, finish=finish)


def resume(scene: Scene, limits: Limits) -> Evidence:
    """Have Atlas start the cluster again; effective when a driver sees every member."""
    with asking(scene.cluster) as client, scene.request(client, limits) as request:

        def do() -> Proof:
            request.until(request.is_idle, "Atlas is still at work")
            if not client.cluster().paused:
                return already("the cluster is not paused")
            request.send(client.resume)
            return request.serving(len(scene.cluster.nodes))

        return scene.making.make("mend", "resume_cluster", OWED, do, finish=request.applied)
