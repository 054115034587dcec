"""The guards of every step of a method, asked in order before the run begins.

What the deny list, the number of nodes down or the copies of data would refuse at the third step is
refused before the first one, instead of after the whole baseline.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from brownout.base.errors import BrownoutError, Unsupported
from brownout.databases.adapter import Adapter
from brownout.faults import guards, registry, undos
from brownout.faults.act import PendingUndo
from brownout.faults.fault import Fault, HostAction, NodeFault, Undo
from brownout.faults.guards import Guard
from brownout.faults.reboot import RebootNode
from brownout.faults.wipe import guards_of_wipe
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.address_proof import served_by
from brownout.machine.host import Restricted, host_for
from brownout.machine.launch import why_not_started
from brownout.session.activity import acts_of, fault_of, function_at, steps_of
from brownout.session.targets import ADDED, BROKEN, SPARE, TARGET, Chosen, targets_of

__all__ = ["Deed", "addresses", "deeds_of", "first_act", "guards_of_steps", "hosts", "resolved"]

_WIPE = "wipe"
#: What a host does for an act of another name.
_ACTS = {"add": ("start", "stop"), "remove": ("stop", "start")}
_HELPERS = "install what `brownout sudoers` writes, as root on the node's machine"
#: So many hosts are asked at a time.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Deed:
    """A fault or an undo of one step: by name, with the node as the experiment calls it.

    `nodes` is a node's name, `target`, `spare`, `added`, `broken`, `targets`, `members` or a role;
    empty for what is about the cluster. `mode` is how a stop ends the process.
    """

    step: str
    name: str
    nodes: str
    mode: str = ""
    #: What the fault is given besides, with variables resolved.
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def act(self) -> str:
        """The word for it in `needs` and `deny_acts`."""
        if self.name == "stop_node" and self.mode == "kill":
            return "kill"
        return registry.find(self.name).act


def deeds_of(method: Sequence[Any], values: Mapping[str, Any]) -> list[Deed]:
    """Return what brownout does in each step of a method, in order, with variables resolved.

    Steps of others are not among them.
    """
    return [
        deed
        for activity in method
        if isinstance(activity, Mapping)
        for deed in _deeds(activity, values)
    ]


def first_act(deeds: Sequence[Deed]) -> str:
    """Return how a method breaks its target first: `kill`, `stop`, `pause`; empty for nothing."""
    return next((deed.act for deed in deeds if not _is_undo(deed)), "")


def addresses(cluster: Cluster) -> list[Guard]:
    """Return for each node whether its address is served by its own process."""
    nodes = [node for node in cluster.nodes if node.host is not None]
    return [guards.of_address(served_by(node, nodes)) for node in nodes]


def hosts(deeds: Sequence[Deed], cluster: Cluster) -> list[Guard]:
    """Return for each node that a step acts on by its host whether that can be reached and do it.

    A target may be another node by the time of the step, so it means every node.
    """
    asked: dict[tuple[str, str], tuple[Deed, Node]] = {}
    for deed in deeds:
        if not registry.find(deed.name).on_host:
            continue
        nodes = _nodes(deed, cluster, cluster.nodes, cluster.nodes)
        if not nodes and deed.nodes not in ("", SPARE, ADDED):  # a role: any node may have it then
            nodes = cluster.nodes
        for node in nodes:
            asked.setdefault((deed.act, node.name), (deed, node))
    if not asked:
        return []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        problems = list(filter(None, pool.map(lambda each: _of_host(*each), asked.values())))
    return problems or [Guard("hosts", True, "every node can be reached, and can do it")]


def _of_host(deed: Deed, node: Node) -> Guard | None:
    """Return why the host of a node cannot do a deed; None where it can."""
    action, where = registry.find(deed.name), f"{deed.step}: node `{node.name}`"
    try:
        host = host_for(node)
        undo = registry.undo_named(getattr(action, "undo_name", ""))
        acts = {*_ACTS.get(deed.act, (deed.act,)), *((undo.act,) if undo else ())}
        if isinstance(host, Restricted) and (rights := host.missing_rights(acts)):
            return Guard("hosts", False, f"{where}: {'; '.join(rights)}", _HELPERS)
        reason = action.why_not_here(node)
        if not reason and "start" in acts and isinstance(node.host, ProcessSpec):
            reason = why_not_started(node.host)
        if reason:
            return Guard("hosts", False, f"{where}: {reason}")
        host.running()
    except BrownoutError as error:
        return Guard("hosts", False, f"{where}: {error.message}", error.hint)
    return None


def guards_of_steps(
    deeds: Sequence[Deed],
    cluster: Cluster,
    adapter: Adapter,
    targets: Sequence[Node],
) -> list[Guard]:
    """Return every guard of every deed, each after those before it; the step is named in it.

    `targets` are the nodes that the run's target means now, none where that is not known.
    """
    simulation = _Simulation(cluster, adapter)
    judged: list[Guard] = []
    for _, together in groupby(deeds, key=lambda deed: deed.step):
        acts = list(together)
        if acts[0].nodes == "members":  # in turn, each whole again before the next
            for node in cluster.nodes:
                for deed in acts:
                    judged += simulation.judge(deed, [node])
            continue
        for deed in acts:
            nodes = _nodes(deed, cluster, targets, targets[:1])
            judged += simulation.judge(deed, nodes or simulation.nodes(deed))
    return list(dict.fromkeys(judged))


def _nodes(
    deed: Deed, cluster: Cluster, targets: Sequence[Node], target: Sequence[Node]
) -> Sequence[Node]:
    """Return the nodes that a deed is about, as far as that can be told before the method.

    `targets` are those that a rack may mean, `target` those that a single one may.
    """
    if deed.nodes in (SPARE, ADDED):
        return cluster.spares[:1]
    by_group = {"members": cluster.nodes, "targets": targets, TARGET: target}
    return by_group.get(deed.nodes) or [n for n in cluster.every if n.name == deed.nodes]


class _Simulation:
    """What would be pending after each deed, if all of them were done."""

    def __init__(self, cluster: Cluster, adapter: Adapter) -> None:
        self._cluster, self._adapter = cluster, adapter
        self._pending: Sequence[PendingUndo] = ()
        #: The nodes that the fault of each node hits as well, on the same machine.
        self._hit_too: dict[str, tuple[str, ...]] = {}
        self._chosen = Chosen()

    def nodes(self, deed: Deed) -> Sequence[Node]:
        """Return the node that a deed means by a role, or as the one that is broken then."""
        if not deed.nodes:
            return ()
        broken = list(undos.broken(self._pending))
        if isinstance(registry.find(deed.name), Undo):
            node = self._chosen.find(deed.nodes, broken)
            return [node] if node else ()
        if deed.nodes == BROKEN:
            nodes = [self._cluster.node(broken[-1])] if broken else []
        else:
            try:
                nodes = targets_of(deed.nodes, self._cluster, self._adapter, 1)
            except BrownoutError:
                return ()
        for node in nodes[:1]:
            self._chosen.note(deed.nodes, node)
        return nodes[:1]

    def judge(self, deed: Deed, nodes: Sequence[Node]) -> Iterator[Guard]:
        """Yield every guard of one deed, which is done then."""
        action = registry.find(deed.name)
        if isinstance(action, Undo):
            for node in nodes:
                self._pending = undos.resolve(self._pending, deed.name, node.name)
            return
        if not nodes:
            yield _named(deed, guards.of_act(self._cluster, deed.act))
        undo = registry.undo_named(action.undo_name) if isinstance(action, Fault) else None
        if undo is not None and undo.hurts:  # a guard is asked before it too
            yield _named(deed, guards.of_act(self._cluster, undo.act))
        for node in nodes:
            for guard in self._of_node(deed, isinstance(action, HostAction), node):
                yield _named(deed, guard)
            if isinstance(action, Fault) and action.undo_name and getattr(action, "stays", True):
                self._pending = undos.add(self._pending, PendingUndo(action.undo_name, node.name))

    def _of_node(self, deed: Deed, is_break: bool, node: Node) -> list[Guard]:
        cluster, adapter = self._cluster, self._adapter
        if not is_break:
            return guards.of_change(cluster, node.name, deed.act, (), ())
        broken, neighbours = undos.broken(self._pending), self._neighbours(deed, node)
        names = [each.name for each in neighbours]
        if isinstance(registry.find(deed.name), RebootNode):
            reboot = guards.of_reboot(node.name, broken, names)
            return [guards.of_act(cluster, deed.act), reboot]
        may_lose = deed.act in guards.MAY_LOSE and not cluster.allow_data_loss
        lost = adapter.would_lose([node, *neighbours]) if may_lose else []
        too = {each: broken[by] for by in broken for each in self._hit_too.get(by, ())}
        hit = {**too, **broken}
        judged = guards.of_break(cluster, node.name, deed.act, hit, (), lost, names)
        earlier = self._hit_too.get(node.name, ()) if node.name in broken else ()
        self._hit_too[node.name] = (*earlier, *names)
        if deed.act == _WIPE and node not in cluster.spares:
            gone = [each for each in cluster.nodes if each.name in {*broken, node.name}]
            lost = adapter.would_lose(gone)
            try:
                host = host_for(node)
            except Unsupported as error:
                return [*judged, guards.possible([str(error)])]
            judged += guards_of_wipe(cluster, adapter, host, node, lost)
        return judged

    def _neighbours(self, deed: Deed, node: Node) -> list[Node]:
        """Return which other nodes a fault of `node` hits; none where its machine does not say."""
        fault = registry.find(deed.name)
        if not isinstance(fault, NodeFault):
            return []
        members = undos.members(self._cluster.nodes, self._cluster.every, self._pending)
        try:
            return fault.neighbours(members, node, deed.arguments)
        except BrownoutError:  # `hosts` says so
            return []


def _named(deed: Deed, guard: Guard) -> Guard:
    return guard if guard.ok else replace(guard, detail=f"{deed.step}: {guard.detail}")


def _is_undo(deed: Deed) -> bool:
    return isinstance(registry.find(deed.name), Undo)


def _deeds(activity: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Deed]:
    provider = activity.get("provider")
    if not isinstance(provider, Mapping) or provider.get("type") != "python":
        return
    step, arguments = str(activity.get("name")), provider.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else {}
    path = f"{provider.get('module')}.{provider.get('func')}"
    for each in steps_of(function_at(path)) or (path,):
        function = function_at(each)
        acts, on = acts_of(function)
        yield from (Deed(step, name, on) for name in acts)
        fault = fault_of(function)
        if fault is not None:
            node = str(resolved(given.get("node", fault.node or ""), values))
            mode = str(resolved(given.get("mode", ""), values))
            others = {name: resolved(value, values) for name, value in given.items()}
            yield Deed(step, fault.name, node if fault.takes_node else "", mode, others)


def resolved(value: Any, values: Mapping[str, Any]) -> Any:
    """Return the value of a `${variable}`, and any other value unchanged."""
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return values.get(value[2:-1], value)
    return value
