"""Another size of the cluster: members restart in turn, and it goes back to what it was."""

from typing import TYPE_CHECKING, Any

from brownout.atlas.objections import of_resize
from brownout.atlas.sizing import Size, resized, restoring, same
from brownout.base.errors import ClusterError
from brownout.faults.acts import Evidence
from brownout.faults.atlas.asking import asking, state_of
from brownout.faults.atlas.request import FIND_S, Limits, already
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient

__all__ = ["put_back", "resize"]

_NAME = "resize_cluster"
Change = dict[str, Any]


def resize(scene: Scene, size: Size, confirm_sharding: bool, limits: Limits) -> Evidence:
    """Have Atlas give the cluster another size; effective when a driver lost a member."""
    with asking(scene.cluster) as client:
        state = state_of(client)
        specs, kind = state.cluster.replication_specs, state.cluster.cluster_type
        change = resized(specs, size, kind, confirm_sharding)
        scene.refuse("resize", of_resize(state, size))
        owes = Debt(_NAME, None, value=restoring(specs, change))
        return _give(scene, client, "break", owes, change, limits, {"to": size.words()})


def put_back(scene: Scene, debt: Debt, limits: Limits) -> None:
    """Send the specification that was there before, once Atlas has nothing else to do."""
    with asking(scene.cluster) as client:
        _give(scene, client, "mend", debt, debt.value, limits)


def _give(
    scene: Scene,
    client: "AtlasClient",
    type: str,
    debt: Debt,
    change: Change,
    limits: Limits,
    arguments: dict[str, Any] | None = None,
) -> Evidence:
    def done() -> bool:
        return same(client.cluster().replication_specs, change)

    with scene.request(client, limits) as request:

        def do() -> Proof:
            request.until(request.is_idle, "Atlas is still at work")
            if done():
                return already("the cluster has that size")
            request.watch.await_primary(FIND_S, scene.stopped)
            request.send(lambda: client.change(change))
            return request.member_lost(done)

        def finish() -> dict[str, Any]:
            seen = request.applied()
            if not done():
                raise ClusterError(
                    "Atlas says that all is applied, and the cluster has another size than was "
                    "asked for",
                    "does Atlas scale it by itself (`autoScaling`)?",
                )
            return seen

        return scene.making.make(type, _NAME, debt, do, arguments, finish, rolling=True)
