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

_TO_THE_DATABASE = frozenset({"drain", "stepdown", "undrain"})
#: After these another member must take over, or there is nothing to measure but the end.
_NEED_ANOTHER = frozenset({"drain", "partition", "stepdown"})
_IN_TURN = frozenset({"racks", "rolling"})
_NEED_A_HOST = TO_A_PROCESS | _IN_TURN
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
#: A member that lost its data is removed and added by the others, who have to be a quorum then.
_LEAST_FOR_A_WIPE = 3


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act, members = act_of(scenario), len(cluster.nodes)
    if act not in _KNOWN:
        return Support(False, f"etcd has no scenario `{act}`; it has {', '.join(sorted(_KNOWN))}")
    if act in _NEED_ANOTHER and members < 2:
        return Support(False, "the cluster has one member, so no other one could take over")
    if act == "wipe" and members < _LEAST_FOR_A_WIPE:
        return Support(
            False,
            f"without a quorum of the {members} members none can be taken in again; "
            f"wanted at least {_LEAST_FOR_A_WIPE}",
        )
    if act in _NEED_A_HOST and (reason := problem_of_hosts(act, cluster)):
        return Support(False, reason)
    lost = loses_majority(act, cluster, "quorum")
    return Support(not lost, lost)
