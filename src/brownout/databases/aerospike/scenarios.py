"""What can be done to an Aerospike cluster, by its edition, its namespaces and its inventory."""

from collections.abc import Callable

from brownout.databases.adapter import Support
from brownout.databases.aerospike import racks
from brownout.databases.aerospike.objections import strongly_consistent
from brownout.databases.aerospike.panel import Panel
from brownout.databases.scenarios import Scenarios, act_of
from brownout.inventory.model import Cluster

__all__ = ["support"]

_ENTERPRISE = frozenset({"drain", "quiesce", "undrain", "unquiesce"})
_SETTINGS = frozenset({"migrationspeed", "replicationfactor"})
#: Who is a member there, and how many copies there are, is the roster's to say.
_NOT_WITH_A_ROSTER = frozenset({"add", "remove", "replicationfactor"})
_CLUSTERS = Scenarios(
    database="Aerospike",
    own=_ENTERPRISE | _SETTINGS,
    on_members=frozenset({"add", "racks", "remove", "rolling"}),
    keep_majority=frozenset(),
)


def support(panel: Panel, cluster: Cluster, namespace: Callable[[], str], scenario: str) -> Support:
    """Return whether the cluster can do `scenario`, as `kill`, `node-kill` or `kill_node`.

    `namespace` is the one under load; it is asked for only where it matters.
    """
    act, answer = act_of(scenario), _CLUSTERS.support(scenario, cluster)
    if not answer.ok:
        return answer
    if act in _ENTERPRISE and panel.community():
        return Support(False, "the Community Edition cannot quiesce a node: Enterprise only")
    if act in _NOT_WITH_A_ROSTER and (strong := _strong(panel)):
        return Support(False, f"{strong} of strong consistency: its roster is not ours to change")
    if act == "racks":
        reason = _racks(panel, namespace)
        return Support(not reason, reason)
    return Support(True)


def _strong(panel: Panel) -> str:
    """Return the namespaces of strong consistency in words, by the first node that answers."""
    views = [view for view in panel.views(panel.numbers()) if not view.error]
    names = strongly_consistent(views[0]) if views else []
    return f"namespace {', '.join(f'`{name}`' for name in names)} is" if names else ""


def _racks(panel: Panel, namespace: Callable[[], str]) -> str:
    name = namespace()
    views = panel.views(("node", racks.command(name), f"namespace/{name}"))
    return racks.problem(panel.nodes, views, name)
