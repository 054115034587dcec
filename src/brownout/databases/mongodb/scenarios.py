"""What can be done to a replica set, and what that needs. Nothing is touched."""

from collections.abc import Sequence

from brownout.databases.adapter import Support
from brownout.databases.mongodb.adjustments import ADJUSTABLE
from brownout.databases.mongodb.view import View
from brownout.databases.scenarios import (
    TO_A_PROCESS,
    act_of,
    loses_majority,
    problem_of_hosts,
)
from brownout.inventory.atlas import BY_ATLAS
from brownout.inventory.model import Cluster

__all__ = ["support", "topology"]

_TO_THE_DATABASE = frozenset({"drain", "stepdown", "undrain"})
#: After these another member must take over, or there is nothing to measure but the end.
_NEED_ANOTHER = frozenset({"drain", "partition", "stepdown", "wipe"})
_OF_THE_SET = frozenset({"add", "racks", "remove", "rolling"})
_NEED_A_HOST = TO_A_PROCESS | _OF_THE_SET
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
_IMPOSSIBLE = {
    "replication_factor": "a replica set has as many copies as members: add or remove a member",
    "migration_speed": "a replica set migrates nothing, and MongoDB has no supported throttle of "
    "an initial sync",
}


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`.

    A setting that can be adjusted is a scenario too.
    """
    setting = scenario.replace("-", "_")
    if setting in _IMPOSSIBLE:
        return Support(False, _IMPOSSIBLE[setting])
    if setting in ADJUSTABLE:
        return Support(True)
    if setting in BY_ATLAS:
        unasked = "the inventory does not say how Atlas is asked (`atlas`)"
        return Support(cluster.atlas is not None, unasked if cluster.atlas is None else "")
    act = act_of(scenario)
    if act not in _KNOWN:
        names = ", ".join(sorted({*_KNOWN, *BY_ATLAS, *ADJUSTABLE}))
        return Support(False, f"MongoDB has no scenario `{scenario}`; it has {names}")
    if act in _NEED_ANOTHER and len(cluster.nodes) < 2:
        return Support(False, "the set has one member, so no other one could take over")
    if act in _NEED_A_HOST and (reason := problem_of_hosts(act, cluster)):
        return Support(False, reason)
    lost = loses_majority(act, cluster)
    return Support(not lost, lost)


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
