"""What can be done to a cluster, and what that needs. Nothing is touched."""

from brownout.databases.adapter import Support
from brownout.databases.scenarios import Scenarios, act_of
from brownout.inventory.model import Cluster

__all__ = ["support"]

_CLUSTERS = Scenarios(
    database="PostgreSQL",
    own=frozenset({"drain", "stepdown", "undrain"}),
    # After these another member must take over, or there is nothing to measure but the end.
    need_another=frozenset({"drain", "partition", "stepdown", "supervisor", "wipe"}),
    keep_majority=frozenset({"racks"}),
)
#: These are done to a process, of which such a host knows only the one that it starts.
_TO_BOTH = frozenset({"kill", "pause", "racks", "wipe"})
_ONE_PROCESS = frozenset({"kubernetes", "process", "ssh"})


def support(scenario: str, cluster: Cluster) -> Support:
    """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
    answer = _CLUSTERS.support(scenario, cluster)
    refused = answer.known and not answer.ok
    if not refused and act_of(scenario) in _TO_BOTH and (bare := _supervisor_alone(cluster)):
        return Support(False, bare)
    return answer


def _supervisor_alone(cluster: Cluster) -> str:
    """Return which nodes would lose one process alone, with others serving; empty if none."""
    bare = [
        node.name
        for node in cluster.nodes
        if node.host
        and node.host.kind in _ONE_PROCESS
        and getattr(node.host, "server_directory", None) is None
    ]
    if not bare:
        return ""
    alone = (
        "only Patroni would be hit, and PostgreSQL would keep running as a second primary"
        if cluster.streaming is None
        else "only its first process would be hit, and those that serve clients would keep running"
    )
    return (
        f"{', '.join(bare)}: set `host.server_directory`, PostgreSQL's data directory; without "
        f"it {alone}"
    )
