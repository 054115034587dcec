"""What can be done to a cluster, and what that needs. Nothing is touched."""

from brownout.databases.adapter import Support
from brownout.databases.scenarios import (
    TO_A_PROCESS,
    act_of,
    loses_majority,
    problem_of_hosts,
)
from brownout.inventory.model import Cluster

__all__ = ["support"]

_TO_THE_DATABASE = frozenset({"drain", "slots", "stepdown", "undrain"})
_IN_TURN = frozenset({"racks", "rolling"})
_NEED_A_HOST = TO_A_PROCESS | _IN_TURN
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
#: After these another node must take over.
_NEED_ANOTHER = frozenset({"drain", "partition", "slots", "stepdown", "wipe"})
_LEAST = 2


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act = act_of(scenario)
    if act not in _KNOWN:
        names = ", ".join(sorted(_KNOWN))
        return Support(False, f"Redis Cluster has no scenario `{act}`; it has {names}")
    if act in _NEED_ANOTHER and len(cluster.nodes) < _LEAST:
        return Support(False, "the cluster has one node, so no other one could take over")
    if act in _NEED_A_HOST and (reason := problem_of_hosts(act, cluster)):
        return Support(False, reason)
    lost = loses_majority(act, cluster)
    return Support(not lost, lost)
