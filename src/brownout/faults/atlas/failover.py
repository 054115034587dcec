"""The failover test: Atlas restarts the primary, and another one is elected."""

from datetime import UTC, datetime

from brownout.atlas.preconditions import unmet
from brownout.faults.acts import Evidence
from brownout.faults.atlas.asking import asking, gather
from brownout.faults.atlas.request import FIND_S, Limits
from brownout.faults.atlas.scene import Scene
from brownout.machine.host import Proof

__all__ = ["test"]


def test(scene: Scene, limits: Limits) -> Evidence:
    """Have Atlas restart the primary; effective when a driver lost it."""
    with asking(scene.cluster) as client:
        facts = gather(client, scene.cluster, scene.adapter)
        scene.refuse("failover", unmet(facts, datetime.now(UTC)))
        with scene.request(client, limits) as request:
            request.watch.await_primary(FIND_S, scene.stopped)

            def do() -> Proof:
                request.send(client.restart_primaries)
                return request.primary_lost()

            return scene.making.make("break", "test_failover", None, do, finish=request.applied)
