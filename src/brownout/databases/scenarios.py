"""What a scenario wants of the nodes of an inventory, whatever their database. Nothing is touched.

Each database's own `scenarios` says which acts it knows and what else they need.
"""

from collections import Counter

from brownout.base.errors import Unsupported
from brownout.inventory.model import Cluster
from brownout.machine.host import delaying_host, partitioning_host, supervising_host

__all__ = ["TO_A_PROCESS", "act_of", "loses_majority", "problem_of_hosts"]

#: What is done to the process of a node, or to its connections.
TO_A_PROCESS = frozenset(
    {"delay", "kill", "partition", "pause", "reboot", "resume", "start", "stop", "wipe"}
)
#: What only some hosts can do: each raises `Unsupported` where a node's cannot.
_ONLY_WHERE = {
    "delay": delaying_host,
    "partition": partitioning_host,
    "supervisor": supervising_host,
}


def act_of(scenario: str) -> str:
    """Return the bare act: `kill` of `node-kill`, `stepdown` of `step_down_primary`."""
    words = scenario.lower().replace("_", "-").split("-")
    return "".join(word for word in words if word not in {"node", "primary"})


def problem_of_hosts(act: str, cluster: Cluster) -> str:
    """Return why `act` cannot be done on the nodes' hosts; empty if it can on each."""
    unreachable = [node.name for node in cluster.nodes if node.host is None]
    if unreachable:
        return f"the inventory does not say what {', '.join(unreachable)} runs on (`host`)"
    for node in cluster.nodes if act in _ONLY_WHERE else ():
        try:
            _ONLY_WHERE[act](node)
        except Unsupported as error:
            return error.message
    return ""


def loses_majority(act: str, cluster: Cluster, majority: str = "majority") -> str:
    """Return why too few members would stay in the course of `act`; empty if enough would.

    `majority` is the database's own word for it.
    """
    members = len(cluster.nodes)
    if act == "rolling" and members < 3:
        return (
            f"while one of {members} members is down the rest is no {majority}; wanted at least 3"
        )
    if act != "racks":
        return ""
    racks = Counter(node.rack for node in cluster.nodes if node.rack)
    if len(racks) < 2:
        return f"the inventory has its nodes in {len(racks)} racks (`rack`), wanted at least 2"
    rack, size = racks.most_common(1)[0]
    if 2 * (members - size) <= members:
        return f"without rack {rack} {members - size} of {members} members stay: no {majority}"
    return ""
