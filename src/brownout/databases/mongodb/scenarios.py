"""What can be done to a replica set, and what that needs. Nothing is touched."""

from collections.abc import Sequence

from brownout.databases.adapter import Support
from brownout.databases.mongodb.adjustments import ADJUSTABLE
from brownout.databases.mongodb.view import View
from brownout.databases.scenarios import Scenarios
from brownout.inventory.atlas import BY_ATLAS
from brownout.inventory.model import Cluster

__all__ = ["support", "topology"]

_SETS = Scenarios(
    database="MongoDB",
    own=frozenset({"drain", "stepdown", "undrain"}),
    on_members=frozenset({"add", "racks", "remove", "rolling"}),
    # After these another member must take over, or there is nothing to measure but the end.
    need_another=frozenset({"drain", "partition", "stepdown", "wipe"}),
    impossible={
        "replicationfactor": "a replica set has as many copies as members: add or remove one",
        "migrationspeed": "a replica set migrates nothing, and MongoDB has no supported throttle "
        "of an initial sync",
    },
)


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`.

    A setting that can be adjusted is a scenario too.
    """
    setting = scenario.replace("-", "_")
    if setting in ADJUSTABLE:
        return Support(True)
    if setting in BY_ATLAS:
        unasked = "the inventory does not say how Atlas is asked (`atlas`)"
        return Support(cluster.atlas is not None, unasked if cluster.atlas is None else "")
    return _SETS.support(scenario, cluster)


def topology(views: Sequence[View]) -> Support:
    """Return whether the members are of a replica set; a silent one says nothing against it."""
    for view in views:
        if view.hello.get("msg") == "isdbgrid":
            return Support(
                False,
                f"{view.node} is a mongos: name it in `connection.hosts`, and the shards' "
                "members as nodes, each with its `shard`",
            )
        of_a_set = "setName" in view.hello or view.hello.get("isreplicaset") or view.status
        if view.hello and not of_a_set:
            return Support(False, f"{view.node} is a standalone mongod, not of a replica set")
    return Support(True)
