"""What can be done to a replica set, and what that needs. Pure."""

from collections.abc import Sequence

from brownout.cluster.adapter import Support
from brownout.cluster.model import Cluster
from brownout.cluster.mongodb.view import View

__all__ = ["support", "topology"]

_TO_A_PROCESS = frozenset({"kill", "pause", "reboot", "resume", "start", "stop", "wipe"})
_TO_THE_DATABASE = frozenset({"drain", "stepdown", "undrain"})
#: After these another member must take over, or there is nothing to measure but the end.
_NEED_ANOTHER = frozenset({"drain", "stepdown", "wipe"})


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act = _act(scenario)
    if act not in _TO_A_PROCESS | _TO_THE_DATABASE:
        known = ", ".join(sorted(_TO_A_PROCESS | _TO_THE_DATABASE))
        return Support(False, f"MongoDB has no scenario `{scenario}`; it has {known}")
    if act in _NEED_ANOTHER and len(cluster.nodes) < 2:
        return Support(False, "the set has one member, so no other one could take over")
    unreachable = [node.name for node in cluster.nodes if node.host is None]
    if act in _TO_A_PROCESS and unreachable:
        named = ", ".join(unreachable)
        return Support(False, f"the inventory does not say what {named} runs on (`host`)")
    return Support(True)


def topology(views: Sequence[View]) -> Support:
    """Return whether the members are of a replica set; a silent one says nothing against it."""
    for view in views:
        if view.hello.get("msg") == "isdbgrid":
            return Support(False, f"{view.node} is a mongos; sharded clusters are unsupported")
        of_a_set = "setName" in view.hello or view.hello.get("isreplicaset") or view.status
        if view.hello and not of_a_set:
            return Support(False, f"{view.node} is a standalone mongod, not of a replica set")
    return Support(True)


def _act(scenario: str) -> str:
    """Return the bare act: `kill` of `node-kill`, `stepdown` of `step_down_primary`."""
    words = scenario.lower().replace("_", "-").split("-")
    return "".join(word for word in words if word not in {"node", "primary"})
