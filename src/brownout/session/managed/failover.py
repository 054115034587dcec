"""The failover test: Atlas restarts the primary, and another one is elected."""

from datetime import UTC, datetime

from brownout.cluster.atlas.preconditions import unmet
from brownout.cluster.host import Proof
from brownout.session.acts import Evidence
from brownout.session.managed.asking import asking, gather
from brownout.session.managed.request import FIND_S, Limits
from brownout.session.managed.scene import Scene

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
