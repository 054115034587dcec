"""What can be done to a cluster, and what that needs. Nothing is touched."""

from collections import Counter

from brownout.base.errors import Unsupported
from brownout.databases.adapter import Support
from brownout.inventory.model import Cluster
from brownout.machine.host import delaying_host, partitioning_host

__all__ = ["support"]

_TO_A_PROCESS = frozenset(
    {"delay", "kill", "partition", "pause", "reboot", "resume", "start", "stop", "wipe"}
)
_TO_THE_DATABASE = frozenset({"drain", "stepdown", "undrain"})
#: After these another member must take over, or there is nothing to measure but the end.
_NEED_ANOTHER = frozenset({"drain", "partition", "stepdown"})
_IN_TURN = frozenset({"racks", "rolling"})
_NEED_A_HOST = _TO_A_PROCESS | _IN_TURN
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
#: What only some hosts can do: each raises `Unsupported` where a node's cannot.
_ONLY_WHERE = {"delay": delaying_host, "partition": partitioning_host}
#: A member that lost its data is removed and added by the others, who have to be a quorum then.
_LEAST_FOR_A_WIPE = 3


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act, members = _act(scenario), len(cluster.nodes)
    if act not in _KNOWN:
        return Support(False, f"etcd has no scenario `{act}`; it has {', '.join(sorted(_KNOWN))}")
    if act in _NEED_ANOTHER and members < 2:
        return Support(False, "the cluster has one member, so no other one could take over")
    if act == "wipe" and members < _LEAST_FOR_A_WIPE:
        return Support(
            False,
            f"of {members} members the rest is no quorum, which has to take the member in again; "
            f"wanted at least {_LEAST_FOR_A_WIPE}",
        )
    unreachable = [node.name for node in cluster.nodes if node.host is None]
    if act in _NEED_A_HOST and unreachable:
        named = ", ".join(unreachable)
        return Support(False, f"the inventory does not say what {named} runs on (`host`)")
    if act in _ONLY_WHERE and (reason := _why_not(act, cluster)):
        return Support(False, reason)
    lost = _loses_quorum(act, cluster)
    return Support(not lost, lost)


def _why_not(act: str, cluster: Cluster) -> str:
    """Return why `act` cannot be done to a member of `cluster`; empty if it can to each."""
    for node in cluster.nodes:
        try:
            _ONLY_WHERE[act](node)
        except Unsupported as error:
            return error.message
    return ""


def _loses_quorum(act: str, cluster: Cluster) -> str:
    """Return why the cluster would have no leader in the course of `act`; empty if it would."""
    members = len(cluster.nodes)
    if act == "rolling" and members < 3:
        return f"while one of {members} members is down the rest is no quorum; wanted at least 3"
    if act != "racks":
        return ""
    racks = Counter(node.rack for node in cluster.nodes if node.rack)
    if len(racks) < 2:
        return f"the inventory has its nodes in {len(racks)} racks (`rack`), wanted at least 2"
    rack, size = racks.most_common(1)[0]
    if 2 * (members - size) <= members:
        return f"without rack {rack} {members - size} of {members} members stay: no quorum"
    return ""


def _act(scenario: str) -> str:
    """Return the bare act: `kill` of `node-kill`, `stepdown` of `step_down_primary`."""
    words = scenario.lower().replace("_", "-").split("-")
    return "".join(word for word in words if word not in {"node", "primary"})
