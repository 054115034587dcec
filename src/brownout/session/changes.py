"""Planned changes of a cluster while it serves: nodes come and go, settings change, all goes back.

Each is written down as a fault is, guarded as a fault is, and put back as a fault is: the cluster
ends as it began, also where the run died half-way (`debts` says what is owed).
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from brownout.cluster.adapter import Adapter
from brownout.cluster.host import Host, Proof
from brownout.cluster.model import Cluster, Node
from brownout.cluster.resizing import Adjustable, Resizing
from brownout.errors import BrownoutError, ClusterError, ConfigurationError, Unsupported
from brownout.session import debts, guards
from brownout.session.acts import Act, Acts, Evidence
from brownout.session.debts import Debt

__all__ = ["Changes"]

#: What changes where the data lies or who leads; the rest alone is felt by nobody.
FELT = frozenset({"replication_factor", "votes_and_priority"})
_SAY = "votes_and_priority"
#: Until the copies that a node takes with it must lie elsewhere, before it is put back out.
COPIED_WITHIN_S = 300.0


class Changes:
    """The planned changes of one run, and who is a member because of them."""

    def __init__(
        self,
        cluster: Cluster,
        adapter: Adapter,
        acts: Acts,
        host: Callable[[Node], Host],
        missing: Callable[[], list[str]],
        owed: Sequence[Debt] = (),
    ) -> None:
        self._cluster, self._adapter, self._acts = cluster, adapter, acts
        self._host, self._missing = host, missing
        self._debts = tuple(owed)
        self.under_way = False  # no milestone counts before a change is whole
        if self._debts:
            self._expect()

    @property
    def owed(self) -> tuple[Debt, ...]:
        """What is still to be put back, the oldest first."""
        return self._debts

    @property
    def members(self) -> list[Node]:
        """The nodes that the cluster consists of now."""
        return debts.members(self._cluster.nodes, self._cluster.every, self._debts)

    @property
    def added(self) -> Node:
        """The node that was added last; raises `ConfigurationError` where none was."""
        names = [debt.node for debt in self._debts if debt.action == "remove_node"]
        if not names:
            raise ConfigurationError("node: found `added`, but no node was added in this run yet")
        return self._cluster.node(str(names[-1]))

    def add(self, node: Node) -> Evidence:
        """Start `node` and make it a member."""
        adapter = self._resizing("add")
        self._check("add", node, adapter.objections_to_join(node))
        return self._add("break", node)

    def remove(self, node: Node) -> Evidence:
        """Have `node` hand over its work where it can, stop it, and have the others forget it."""
        adapter = self._resizing("remove")
        self._check("remove", node, adapter.objections_to_leave(node))
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
        type = "break" if felt else "change"
        return self._adjust(type, Debt("adjust", node.name if node else None, name, before), value)

    def put_back(self) -> list[str]:
        """Put back all that is owed, the latest first, each tried; return what could not be."""
        failures = []
        for debt in reversed(self._debts):
            try:
                self._pay(debt)
            except BrownoutError as error:
                failures.append(f"{debt.words()}: {error}")
        return failures

    def _pay(self, debt: Debt) -> None:
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
            self._empty(node)

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
        self._await_redundancy(f"node `{node.name}` has no vote yet")
        adapter, named = self._adjustable(_SAY), {"setting": _SAY, "value": say}
        self._acts.carry_out(
            Act("mend", "adjust", node.name, None, named), lambda: adapter.adjust(_SAY, say, node)
        )

    def _await_copies(self, leaving: Node) -> None:
        """Wait until the others could do without `leaving`: one removal too soon loses data."""
        if not self._host(leaving).running().running:
            rest = [member for member in self.members if member.name != leaving.name]
            self._resizing("remove").expect(rest)
        self._await_redundancy(f"node `{leaving.name}` stays, since a removal could lose data")

    def _await_redundancy(self, otherwise: str) -> None:
        deadline = time.monotonic() + COPIED_WITHIN_S
        while missing := self._lacks():
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{otherwise}: the cluster is not redundant after {COPIED_WITHIN_S:.0f} s: "
                    + "; ".join(missing),
                    "see why, then heal again",
                )
            time.sleep(0.5)

    def _lacks(self) -> list[str]:
        """Return what is wanted until every record has its copies; a silent cluster wants words."""
        try:
            state = self._adapter.stable("redundant")
        except ClusterError as error:
            return [str(error)]
        lacks = [str(words) for words in state.detail.get("missing", [])]
        return [] if state.reached else lacks or ["it does not say why"]

    def _add(self, type: str, node: Node) -> Evidence:
        adapter = self._resizing("add")

        def do() -> Proof:
            self._host(node).start()
            return adapter.join(node)

        return self._change(type, "add_node", Debt("remove_node", node.name), do)

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

        return self._change(type, "remove_node", Debt("add_node", node.name, value=say), do)

    def _adjust(self, type: str, debt: Debt, value: Any) -> Evidence:
        adapter = self._adjustable(debt.setting)
        node = self._cluster.node(debt.node) if debt.node else None
        return self._change(
            type, "adjust", debt, lambda: adapter.adjust(debt.setting, value, node),
            {"setting": debt.setting, "value": value},
        )  # fmt: skip

    def _change(
        self,
        type: str,
        name: str,
        owes: Debt,
        do: Callable[[], Proof],
        arguments: dict[str, Any] | None = None,
    ) -> Evidence:
        """Make a change: what it owes is noted before it is made, what it pays once it is."""
        paying = debts.pays(self._debts, name, owes.node, owes.setting) and name != "adjust"
        mending = paying or type == "mend"
        if type == "break":
            self._acts.before_break()
        if not mending:
            self._debts = debts.owe(self._debts, owes)
        undo = None if mending else owes.undo()
        self.under_way = True
        try:
            evidence = self._acts.carry_out(Act(type, name, owes.node, undo, arguments), do)
        finally:
            self.under_way = False
        if mending:
            self._debts = debts.paid(self._debts, name, owes.node, owes.setting)
        self._expect()
        return evidence

    def _empty(self, node: Node) -> None:
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
        name, missing = node.name if node else None, self._missing() if whole else []
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
