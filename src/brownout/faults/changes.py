"""Planned changes of a cluster while it serves: nodes come and go, settings change, all goes back.

Each is written down as a fault is, guarded as a fault is, and put back as a fault is: the cluster
ends as it began, also where the run died half-way (`debts` says what is owed).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brownout.base.errors import BrownoutError, ConfigurationError, Unsupported
from brownout.databases.adapter import Adapter
from brownout.databases.lacking import lacks, still_lacks
from brownout.databases.resizing import Adjustable, Resizing
from brownout.faults import debts, guards
from brownout.faults.acts import Act, Acts, Evidence
from brownout.faults.atlas.owed import pay
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.faults.litmus.engines import Engines
from brownout.faults.making import Making
from brownout.faults.redundancy import await_redundancy
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof

__all__ = ["Changes"]

#: What changes where the data lies or who leads; the rest alone is felt by nobody.
_SAY, _FACTOR = "votes_and_priority", "replication_factor"
FELT = frozenset({_FACTOR, _SAY})


class Changes:
    """The planned changes of one run, and who is a member because of them."""

    def __init__(
        self,
        cluster: Cluster,
        adapter: Adapter,
        acts: Acts,
        host: Callable[[Node], Host],
        owed: Sequence[Debt] = (),
    ) -> None:
        self._cluster, self._adapter, self._acts = cluster, adapter, acts
        self._host = host
        self.making = Making(acts, owed, self._expect)
        self._given: dict[str, Any] = {}  # settings of the cluster, for nodes that come later
        if self.owed:
            self._expect()

    @property
    def owed(self) -> tuple[Debt, ...]:
        """What is still to be put back, the oldest first."""
        return self.making.owed

    @property
    def members(self) -> list[Node]:
        """The nodes that the cluster consists of now."""
        return debts.members(self._cluster.nodes, self._cluster.every, self.owed)

    @property
    def added(self) -> Node:
        """The node that was added last; raises `ConfigurationError` where none was."""
        names = [debt.node for debt in self.owed if debt.action == "remove_node"]
        if not names:
            raise ConfigurationError("node: found `added`, but no node was added in this run yet")
        return self._cluster.node(str(names[-1]))

    def add(self, node: Node) -> Evidence:
        """Start `node` and make it a member."""
        adapter = self._resizing("add")
        self._check("add", node, [*self.pinned(), *adapter.objections_to_join(node)])
        evidence = self._add("break", node)
        for name, value in self._given.items():  # the new node came with its own
            self._set("change", Debt("adjust", None, name), value)
        return evidence

    def remove(self, node: Node) -> Evidence:
        """Have `node` hand over its work where it can, stop it, and have the others forget it."""
        adapter = self._resizing("remove")
        self._check("remove", node, [*self.pinned(), *adapter.objections_to_leave(node)])
        return self._remove("break", node, self._say_of(node))

    def admit(self, node: Node) -> Evidence:
        """Give a member that was added, and has its data, its full say."""
        adapter = self._resizing("add")
        return self._acts.carry_out(
            Act("change", "admit_node", node.name), lambda: adapter.admit(node)
        )

    def adjust(self, name: str, value: Any, node: Node | None = None) -> Evidence:
        """Give a setting of the cluster, or of `node`, another value."""
        adapter = self._adjustable(name)
        felt = name in FELT
        self._check("adjust", node, adapter.objections_to_adjust(name, value, node), whole=felt)
        before = adapter.setting(name, node)
        owes = Debt("adjust", node.name if node else None, name, before)
        evidence = self._adjust("break" if felt else "change", owes, value)
        if node is None and not felt:
            self._given[name] = value
        return evidence

    def pinned(self) -> list[str]:
        """Return why no node may be started again until settings are put back: what it comes with.

        A node of Aerospike starts with its configuration's replication factor, and nodes of
        different factors form no cluster.
        """
        owed = [debt for debt in self.owed if debt.setting == _FACTOR]
        return (
            [f"{_FACTOR} was changed by this run, and a node starts with its own"] if owed else []
        )

    def put_back(self) -> list[str]:
        """Put back all that is owed, the latest first, each tried; return what could not be."""
        failures = []
        for debt in reversed(self.owed):
            try:
                self._pay(debt)
            except BrownoutError as error:
                failures.append(f"{debt.words()}: {error}")
        return failures

    def engines(
        self, broken: Callable[[], Mapping[str, str]], stopped: Callable[[], bool]
    ) -> Engines:
        """Return the ChaosEngines of this run, while nodes are `broken`."""
        return Engines(self._cluster, self._adapter, self.making, broken, stopped)

    def _pay(self, debt: Debt) -> None:
        if debt.action in debts.OF_ATLAS:
            pay(Scene(self._cluster, self._adapter, self.making), debt)
            return
        if debt.action == debts.STOP_ENGINE:
            self.engines(dict, lambda: False).pay(debt)
            return
        if debt.action == "adjust":
            self._adjust("mend", debt, debt.value)
            return
        node = self._cluster.node(str(debt.node))
        if debt.action == "add_node":
            self._add("mend", node)
            self._give_say(node, debt.value)
        else:
            self._await_copies(node)
            self._remove("mend", node)
            if debt.value == debts.WAS_EMPTY:
                self._empty_again(node)

    def _say_of(self, node: Node) -> Any:
        """Return the votes and priority that a member has; None where there is no such thing."""
        adapter = self._adapter
        if isinstance(adapter, Adjustable) and self._adapter.supports(_SAY).ok:
            return adapter.setting(_SAY, node)
        return None

    def _give_say(self, node: Node, say: Any) -> None:
        """Give a node that is back the say that it had, once it has the data for it."""
        if say is None:
            return
        await_redundancy(
            lambda: lacks(self._adapter, "redundant"), f"node `{node.name}` has no vote yet"
        )
        self._set("mend", Debt("adjust", node.name, _SAY), say)

    def _await_copies(self, leaving: Node) -> None:
        """Wait until the others could do without `leaving`: one removal too soon loses data.

        A run that died may have had it out already, so they are asked with and without it.
        """
        rest = [member for member in self.members if member.name != leaving.name]
        running = self._host(leaving).running().running
        asked = [self.members, rest] if running else [rest]
        adapter = self._resizing("remove")

        def lacking() -> list[str]:
            found: list[str] = []
            for nodes in asked:
                adapter.expect(nodes)
                found = lacks(self._adapter, "redundant")
                if not found:
                    break
            return found

        await_redundancy(lacking, f"node `{leaving.name}` stays, since a removal could lose data")
        adapter.expect(asked[0])

    def _add(self, type: str, node: Node) -> Evidence:
        adapter = self._resizing("add")

        def do() -> Proof:
            self._host(node).start()
            return adapter.join(node)

        owes = Debt("remove_node", node.name, value=debts.WAS_EMPTY if self._empty(node) else None)
        return self.making.make(type, "add_node", owes, do)

    def _remove(self, type: str, node: Node, say: Any = None) -> Evidence:
        adapter = self._resizing("remove")

        def do() -> Proof:
            left = adapter.leave(node)
            stopped = self._host(node).stop("clean")
            adapter.expect([member for member in self.members if member.name != node.name])
            forgotten = adapter.forget(node)
            first = stopped if left.already else left
            seen = {"left": left.evidence, "stopped": stopped.evidence, **forgotten.evidence}
            return Proof(first.effective_monotonic, first.uncertainty_s, seen)

        return self.making.make(type, "remove_node", Debt("add_node", node.name, value=say), do)

    def _adjust(self, type: str, debt: Debt, value: Any) -> Evidence:
        adapter = self._adjustable(debt.setting)
        node = self._cluster.node(debt.node) if debt.node else None
        return self.making.make(
            type, "adjust", debt, lambda: adapter.adjust(debt.setting, value, node),
            {"setting": debt.setting, "value": value},
        )  # fmt: skip

    def _set(self, type: str, named: Debt, value: Any) -> Evidence:
        """Give a setting a value that nothing more is owed for."""
        adapter = self._adjustable(named.setting)
        node = self._cluster.node(named.node) if named.node else None
        arguments = {"setting": named.setting, "value": value}
        return self._acts.carry_out(
            Act(type, "adjust", named.node, None, arguments),
            lambda: adapter.adjust(named.setting, value, node),
        )

    def _empty(self, node: Node) -> bool:
        """Whether `node` is a spare that holds nothing; not, where that cannot be told."""
        try:
            named = self._adapter.data_directories(node) if node in self._cluster.spares else []
            return bool(named) and not any(self._host(node).entries(each) for each in named)
        except BrownoutError:
            return False

    def _empty_again(self, node: Node) -> None:
        """Leave a spare as it was found, empty, where its data may be wiped at all."""
        allowed = all(guard.ok for guard in guards.of_emptying(self._cluster))
        if node in self._cluster.spares and allowed:
            directories = self._adapter.data_directories(node)
            act = Act("mend", "empty_spare", node.name)
            self._acts.carry_out(act, lambda: self._host(node).wipe(directories))

    def _expect(self) -> None:
        if isinstance(self._adapter, Resizing):
            self._adapter.expect(self.members)

    def _check(
        self, act: str, node: Node | None, objections: Sequence[str], whole: bool = True
    ) -> None:
        """Refuse a change that the inventory, the database or a cluster not `whole` forbids."""
        missing = still_lacks(self._adapter, "whole") if whole else []
        name = node.name if node else None
        guards.refuse(guards.of_change(self._cluster, name, act, missing, objections))

    def _resizing(self, need: str) -> Resizing:
        adapter = self._adapter
        if isinstance(adapter, Resizing) and self._adapter.supports(need).ok:
            return adapter
        raise self._unsupported(need)

    def _adjustable(self, setting: str) -> Adjustable:
        adapter = self._adapter
        if isinstance(adapter, Adjustable) and self._adapter.supports(setting).ok:
            return adapter
        raise self._unsupported(setting)

    def _unsupported(self, need: str) -> Unsupported:
        reason = self._adapter.supports(need).reason or "this database's adapter does not do it"
        return Unsupported(f"cluster `{self._cluster.name}`: {need}: {reason}; nothing is touched")
