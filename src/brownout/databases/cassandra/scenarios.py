"""Which scenarios a cluster supports, and what they need."""

from brownout.databases.adapter import Support
from brownout.databases.scenarios import (
    TO_A_PROCESS,
    act_of,
    loses_majority,
    problem_of_hosts,
)
from brownout.inventory.model import Cluster

__all__ = ["support"]

_KNOWN = TO_A_PROCESS | {"racks", "rolling"}
_NEED_ANOTHER = frozenset({"partition", "wipe"})


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act, nodes = act_of(scenario), len(cluster.nodes)
    if act == "stepdown":
        return Support(False, "Cassandra has no leader, so no node can step down")
    if act not in _KNOWN:
        names = ", ".join(sorted(_KNOWN))
        return Support(False, f"Cassandra has no scenario `{act}`; it has {names}")
    if act in _NEED_ANOTHER and nodes < 2:
        return Support(False, "the cluster has one node, so no other one has its data")
    if reason := problem_of_hosts(act, cluster):
        return Support(False, reason)
    lost = loses_majority(act, cluster, "quorum")
    return Support(not lost, lost)
