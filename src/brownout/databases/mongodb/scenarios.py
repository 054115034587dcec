"""What can be done to a replica set, and what that needs. Nothing is touched."""

from collections import Counter
from collections.abc import Sequence

from brownout.base.errors import Unsupported
from brownout.databases.adapter import Support
from brownout.databases.mongodb.adjusting import ADJUSTABLE
from brownout.databases.mongodb.view import View
from brownout.inventory.atlas import BY_ATLAS
from brownout.inventory.model import Cluster
from brownout.machine.host import delaying_host, partitioning_host

__all__ = ["support", "topology"]

_TO_A_PROCESS = frozenset(
    {"delay", "kill", "partition", "pause", "reboot", "resume", "start", "stop", "wipe"}
)
_TO_THE_DATABASE = frozenset({"drain", "stepdown", "undrain"})
#: After these another member must take over, or there is nothing to measure but the end.
_NEED_ANOTHER = frozenset({"drain", "partition", "stepdown", "wipe"})
_OF_THE_SET = frozenset({"add", "racks", "remove", "rolling"})
_NEED_A_HOST = _TO_A_PROCESS | _OF_THE_SET
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
#: What only some hosts can do: each raises `Unsupported` where a node's cannot.
_ONLY_WHERE = {"delay": delaying_host, "partition": partitioning_host}
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
    act = _act(scenario)
    if act not in _KNOWN:
        known = ", ".join(sorted({*_KNOWN, *BY_ATLAS, *ADJUSTABLE}))
        return Support(False, f"MongoDB has no scenario `{scenario}`; it has {known}")
    if act in _NEED_ANOTHER and len(cluster.nodes) < 2:
        return Support(False, "the set has one member, so no other one could take over")
    unreachable = [node.name for node in cluster.nodes if node.host is None]
    if act in _NEED_A_HOST and unreachable:
        named = ", ".join(unreachable)
        return Support(False, f"the inventory does not say what {named} runs on (`host`)")
    if act in _ONLY_WHERE and (reason := _why_not(act, cluster)):
        return Support(False, reason)
    lost = _loses_majority(act, cluster)
    return Support(not lost, lost)


def _why_not(act: str, cluster: Cluster) -> str:
    """Return why `act` cannot be done to a member of `cluster`; empty if it can to each."""
    for node in cluster.nodes:
        try:
            _ONLY_WHERE[act](node)
        except Unsupported as error:
            return error.message
    return ""


def _loses_majority(act: str, cluster: Cluster) -> str:
    """Return why the set would have no primary in the course of `act`; empty if it would."""
    members = len(cluster.nodes)
    if act == "rolling" and members < 3:
        return f"while one of {members} members is down the rest is no majority; wanted at least 3"
    if act != "racks":
        return ""
    racks = Counter(node.rack for node in cluster.nodes if node.rack)
    if len(racks) < 2:
        return f"the inventory has its nodes in {len(racks)} racks (`rack`), wanted at least 2"
    rack, size = racks.most_common(1)[0]
    if 2 * (members - size) <= members:
        return f"without rack {rack} {members - size} of {members} members stay: no majority"
    return ""


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


def _act(scenario: str) -> str:
    """Return the bare act: `kill` of `node-kill`, `stepdown` of `step_down_primary`."""
    words = scenario.lower().replace("_", "-").split("-")
    return "".join(word for word in words if word not in {"node", "primary"})
