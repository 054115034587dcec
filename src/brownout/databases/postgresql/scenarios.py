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
_NEED_ANOTHER = frozenset({"drain", "partition", "stepdown", "supervisor", "wipe"})
_IN_TURN = frozenset({"racks", "rolling"})
_NEED_A_HOST = TO_A_PROCESS | _IN_TURN | {"supervisor"}
_KNOWN = _NEED_A_HOST | _TO_THE_DATABASE
#: These are done to a process, of which such a host knows only the one that it starts.
_TO_BOTH = frozenset({"kill", "pause", "racks", "wipe"})
_ONE_PROCESS = frozenset({"kubernetes", "process", "ssh"})


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    act, members = act_of(scenario), len(cluster.nodes)
    if act not in _KNOWN:
        names = ", ".join(sorted(_KNOWN))
        return Support(False, f"PostgreSQL has no scenario `{act}`; it has {names}")
    if act in _NEED_ANOTHER and members < 2:
        return Support(False, "the cluster has one member, so no other one could take over")
    if act in _NEED_A_HOST and (reason := problem_of_hosts(act, cluster)):
        return Support(False, reason)
    if act in _TO_BOTH and (reason := _supervisor_alone(cluster)):
        return Support(False, reason)
    if act == "racks":
        lost = loses_majority(act, cluster)
        return Support(not lost, lost)
    return Support(True)


def _supervisor_alone(cluster: Cluster) -> str:
    """Return which nodes would lose Patroni alone, with PostgreSQL still serving; empty if none."""
    bare = [
        node.name
        for node in cluster.nodes
        if node.host
        and node.host.kind in _ONE_PROCESS
        and getattr(node.host, "server_directory", None) is None
    ]
    if not bare:
        return ""
    return (
        f"{', '.join(bare)}: set `host.server_directory`, PostgreSQL's data directory; without "
        "it only Patroni would be hit, and PostgreSQL would keep running as a second primary"
    )
