"""Another size of the cluster: members restart in turn, and it goes back to what it was."""

from typing import TYPE_CHECKING, Any

from brownout.atlas.objections import of_resize
from brownout.atlas.sizes import Size, resized, restoring, same
from brownout.base.errors import ClusterError
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.atlas.by_atlas import UNHURRIED, ByAtlas
from brownout.faults.atlas.cluster_state import state_of
from brownout.faults.atlas.request import FIND_S, Request, already
from brownout.faults.fault import Fault, Undo
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.faults.faults import Faults

__all__ = ["ResizeAgain", "ResizeCluster"]

_NAME, _WORDS = "resize_cluster", "Atlas gave the cluster another size"
Change = dict[str, Any]


class ResizeCluster(ByAtlas, Fault):
    """Give the cluster another size, up or down; what is left at its default stays as it is.

    `tier` as M40, `disk_gb` of storage, `nodes` that can be elected in each shard (3, 5 or 7; the
    region of the highest priority takes the difference), `shards`. A replica set is sharded only
    with `confirm_sharding`: there is no way back. Refused for the size that it has already, and
    where Atlas scales it by itself. Put back by the rollback.
    """

    name, act, words, undo_name = _NAME, "resize", _WORDS, _NAME

    def run(
        self,
        faults: "Faults",
        node: None,
        tier: str = "",
        disk_gb: float = 0.0,
        nodes: int = 0,
        shards: int = 0,
        confirm_sharding: bool = False,
        begins_within_s: float = 900.0,
        done_within_s: float = 7200.0,
    ) -> Evidence:
        """Have Atlas give the cluster another size; effective when a driver lost a member."""
        size = Size(tier, disk_gb or None, nodes, shards)
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):
            state = state_of(client)
            specs, kind = state.cluster.replication_specs, state.cluster.cluster_type
            change = resized(specs, size, kind, confirm_sharding)
            self.refuse(faults, of_resize(state, size))
            leaves = PendingUndo(_NAME, None, value=restoring(specs, change))
            act = Act("break", _NAME, None, leaves, {"to": size.words()})
            return _give(faults, client, request, act, change)


class ResizeAgain(ByAtlas, Undo):
    """Send the specification that was there before, once Atlas has nothing else to do."""

    name, act, words, module = _NAME, "resize", _WORDS, ""
    breaks, same_name, hurts = False, True, True  # each member is restarted once more

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Give it the size that is pending."""
        self.run(faults, None, pending.value)

    def run(self, faults: "Faults", node: None, change: Change) -> Evidence:
        """Have Atlas make the change."""
        with self.requesting(faults, *UNHURRIED) as (client, request):
            return _give(faults, client, request, Act("mend", _NAME, None), change)


def _give(
    faults: "Faults", client: "AtlasClient", request: Request, act: Act, change: Change
) -> Evidence:
    def done() -> bool:
        return same(client.cluster().replication_specs, change)

    def do() -> Proof:
        request.until(request.is_idle, "Atlas is still at work")
        if done():
            return already("the cluster has that size")
        request.watch.await_primary(FIND_S, faults.stopped)
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

    return faults.perform(act, do, finish, rolling=True)
