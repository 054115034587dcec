"""What can be done to an Aerospike cluster, by its edition, its namespaces and its inventory."""

from collections.abc import Callable

from brownout.databases.adapter import Support
from brownout.databases.aerospike import racks
from brownout.databases.aerospike.objections import strongly_consistent
from brownout.databases.aerospike.panel import Panel
from brownout.inventory.model import Cluster

__all__ = ["support"]

_TO_A_PROCESS = frozenset(
    {"add", "kill", "pause", "reboot", "remove", "resume", "rolling", "start", "stop", "wipe"}
)
_ENTERPRISE = frozenset({"drain", "quiesce", "undrain", "unquiesce"})
_SETTINGS = frozenset({"migrationspeed", "replicationfactor"})
#: Who is a member there, and how many copies there are, is the roster's to say.
_NOT_WITH_A_ROSTER = frozenset({"add", "remove", "replicationfactor"})
_KNOWN = _TO_A_PROCESS | _ENTERPRISE | _SETTINGS | {"racks"}
_NAMES = {"migrationspeed": "migration_speed", "replicationfactor": "replication_factor"}


def support(panel: Panel, cluster: Cluster, namespace: Callable[[], str], scenario: str) -> Support:
    """Return whether the cluster can do `scenario`, as `kill`, `node-kill` or `kill_node`.

    `namespace` is the one under load; it is asked for only where it matters.
    """
    words = scenario.lower().replace("_", "-").split("-")
    act = "".join(word for word in words if word != "node")
    if act not in _KNOWN:
        known = ", ".join(sorted(_NAMES.get(each, each) for each in _KNOWN))
        return Support(False, f"Aerospike has no scenario `{scenario}`; it has {known}")
    unreachable = [node.name for node in cluster.nodes if node.host is None]
    if act in _TO_A_PROCESS | {"racks"} and unreachable:
        named = ", ".join(unreachable)
        return Support(False, f"the inventory does not say what {named} runs on (`host`)")
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
