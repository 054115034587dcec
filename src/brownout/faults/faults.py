"""Break and mend, written down: the intent before the act, the proof after it.

What is broken or changed is known here and nowhere else; nothing else may stop, pause, wipe or
start a node. What each fault does is in its own file: this is what all of them go through.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from brownout.base.errors import BrownoutError, ConfigurationError, Refused, UndoFailed, Unsupported
from brownout.databases.adapter import Adapter
from brownout.databases.milestones import LOOK_AGAIN_WITHIN_S, await_nothing, still_unmet
from brownout.databases.resize import Resizing
from brownout.faults import guards, registry, undos
from brownout.faults.act import Act, Evidence, Pending, PendingUndo, evidence_of
from brownout.faults.aim import Aim, RoleMoved, role_now
from brownout.faults.fault import Action, HostAction, NodeFault
from brownout.faults.guards import Guard
from brownout.faults.watch import Watches
from brownout.faults.wipe import Wipes, check_wipes
from brownout.inventory.model import Cluster, Node
from brownout.machine.address_proof import served_by
from brownout.machine.host import Host, Proof, host_for
from brownout.run import contract
from brownout.run.contract import Breach
from brownout.run.events import EventLog

__all__ = ["Faults"]

T = TypeVar("T")

_NOTHING: tuple[Pending, Pending] = ((), ())


class Faults:
    """Every fault of one run on one cluster, and the undos that are pending.

    `to_t` turns monotonic seconds into those of the run; `aim` is whom the run's target means;
    `to_wipe` says whether the run means to wipe a node once it is stopped; `stopped` says that
    waits are to end, and `ending` that no break may begin any more, also while things are put
    back. A fault that ends before its undo breaks the contract of the fault, unless it
    `may_end_early`. `while_degraded` says that a break may begin before the cluster is redundant
    again. `guarding` are the inventories whose guards an undo that may hurt is asked,
    where the cluster's own file has changed; `removable` are the spares that were not members
    before the run (all of them where that is not said).
    """

    def __init__(
        self,
        cluster: Cluster,
        adapter: Adapter,
        events: EventLog,
        to_t: Callable[[float], float | None],
        pending: Sequence[PendingUndo] = (),
        *,
        aim: Aim | None = None,
        to_wipe: Callable[[Node], bool] = lambda _: False,
        stopped: Callable[[], bool] = lambda: False,
        ending: Callable[[], bool] = lambda: False,
        confirmation: str = "",
        may_end_early: bool = False,
        while_degraded: bool = False,
        guarding: Sequence[Cluster] = (),
        removable: Collection[str] | None = None,
    ) -> None:
        self.cluster, self.adapter = cluster, adapter
        self.stopped, self.confirmation = stopped, confirmation
        self._ending = ending
        self._guarding = tuple(guarding) or (cluster,)
        spares = [node.name for node in cluster.spares]
        self.removable = frozenset(spares if removable is None else removable)
        self._events, self._to_t, self._aim = events, to_t, aim or Aim(tuple)
        #: Whether a step of others broke something.
        self.others_broke = False
        #: Nodes whose process was told to end, without a proof that it did.
        self.told_to_end: set[str] = set()
        self._breaks: set[int] = set()
        self._hidden: set[str] = set()
        self._while_degraded = while_degraded
        self._roles: dict[str, str] = {}
        self.before_break: Callable[[], None] = lambda: None
        #: Whether a node last said between two monotonic times that it is primary, if it did.
        self.claimed_primary: Callable[[str, float, float], bool | None] = lambda *_: None
        #: What was seen right before each act, and when.
        self._before: dict[int, tuple[float, Evidence]] = {}
        self._watches = Watches(events, to_t, may_end_early)
        #: What the intent of each act added to what is pending, and what it took away.
        self._left: dict[int, tuple[Pending, Pending]] = {}
        #: The nodes that a fault of each node hits as well, since they share its machine.
        self._hit_too: dict[str, list[str]] = {}
        #: Settings of the cluster that were changed, for nodes that come later.
        self.given: dict[str, Any] = {}
        #: Events that get their effect with a later act, as a quiesce with its recluster.
        self.awaiting_effect: list[tuple[Act, int]] = []
        self.to_wipe, self.wipes = to_wipe, Wipes(adapter)
        self._hosts: dict[str, Host] = {}
        self._pending = tuple(pending)
        self._lock = threading.Lock()
        self._half_made = False
        if self.members != list(cluster.nodes):
            self._expect()

    # -- what is pending ----------------------------------------------------------------------

    @property
    def pending(self) -> tuple[PendingUndo, ...]:
        """Every undo that is pending, the oldest first."""
        with self._lock:
            return self._pending

    @property
    def broken(self) -> dict[str, str]:
        """Each node that is still broken, with what it waits for: `{"n1": "start_node"}`."""
        return undos.broken(self.pending)

    @property
    def hit(self) -> dict[str, str]:
        """As `broken`, with the nodes that a fault of another one of their machine hits too."""
        broken = self.broken
        too = {each: broken[node] for node in broken for each in self.hit_too(node)}
        return {**too, **broken}

    def hit_too(self, node: str) -> list[str]:
        """Return the nodes that the fault of `node` hits as well, on the same machine."""
        return self._hit_too.get(node, [])

    @property
    def hidden(self) -> frozenset[str]:
        """The nodes that may be well though they do not answer us, who are clients to them."""
        return frozenset(self._hidden & self.hit.keys())

    def ask_role(self, node: str, role: str) -> None:
        """Note the role, if any, that `node` must have when it is broken next."""
        self._roles[node] = role

    def hide(self, node: str) -> None:
        """Note that a fault of `node` may keep it from answering us until it is undone."""
        self._hidden.add(node)

    @property
    def down(self) -> dict[str, str]:
        """What is broken, and what keeps members of the cluster away."""
        return {**self.broken, **undos.away(self.pending)}

    @property
    def settled(self) -> bool:
        """Whether nothing is broken, away or half made, so that milestones count.

        A fault that ended by itself breaks nothing any more, though its undo is still to come.
        """
        lasting = [each for each in self.pending if not self._watches.is_over(each)]
        return not self._half_made and not any(map(undos.breaks, lasting))

    @property
    def members(self) -> list[Node]:
        """The nodes that the cluster consists of now."""
        return undos.members(self.cluster.nodes, self.cluster.every, self.pending)

    @property
    def added(self) -> Node:
        """The node that was added last; raises `ConfigurationError` where none was."""
        names = [each.node for each in self.pending if each.action == "remove_node"]
        if not names:
            raise ConfigurationError("node: found `added`, but no node was added in this run yet")
        return self.cluster.node(str(names[-1]))

    def host(self, node: Node) -> Host:
        """Return the host of `node`, the same one each time."""
        return self._hosts.setdefault(node.name, host_for(node))

    # -- what a run does ----------------------------------------------------------------------

    def run(self, name: str, node: Node | None = None, /, **arguments: Any) -> Evidence:
        """Run the fault or the undo that is called `name`; see its own file for its arguments.

        Raises what `Action.run` does.
        """
        return registry.find(name).run(self, node, **arguments)

    def run_together(self, name: str, nodes: Sequence[Node]) -> list[Evidence]:
        """Do one fault to several nodes, as where their rack loses its power.

        The guards judge all of them before the first is touched.
        """
        fault = registry.find(name)
        if not isinstance(fault, NodeFault):
            raise Unsupported(f"`{name}` is not done to several nodes together")
        missing, down = still_unmet(self.adapter, "whole"), self.broken
        judged: list[Guard] = []
        for node in nodes:
            lost = self._lost([node], fault.act)
            judged += guards.of_break(self.cluster, node.name, fault.act, down, missing, lost)
            judged.append(guards.possible([*self.pinned(), *fault.why_not_now(self, node)]))
            judged.append(guards.of_address(served_by(node, self.cluster.every)))
            down[node.name] = fault.undo_name
        guards.refuse([*self._of_run(fault.act), *judged])
        check_wipes(self, nodes)
        for node in nodes:
            self.host(node).running()  # raises with nothing touched where it is out of reach
        return [fault.run_unguarded(self, node) for node in nodes]

    @property
    def broke_something(self) -> bool:
        """Whether a break began that its server or machine did not refuse."""
        return self.others_broke or bool(self._breaks)

    @property
    def directory(self) -> Path:
        """The directory in which what is done is written down."""
        return self._events.directory

    def has_begun(self, name: str, node: str) -> bool:
        """Return whether this run began this on this node, also if it died since."""
        return self._events.tells_of(name, node)

    def put_back(self) -> list[str]:
        """Undo all that is pending, each tried; return what could not be undone."""
        failures = []
        for together in undos.in_order(self.pending):
            try:
                for pending in together:
                    self.undo(pending)
            except BrownoutError as error:
                words = "; ".join(map(undos.describe, together))
                if undos.breaks(together[0]) and (node := together[0].node):
                    waiting = undos.by_place(together)[node]
                    words = f"node `{node}` could not be put back by {waiting}"
                failures.append(f"{words}: {error}")
        return failures

    def prove_wipes(self) -> None:
        """Write down which wiped nodes that were started again still hold their data."""
        for name in self.wipes.unproven:
            if name in self.broken:
                continue
            node = self.cluster.node(name)
            if detail := self.wipes.kept(node):
                self.breach(contract.DATA, detail, name)

    def breach(self, clause: str, detail: str, node: str | None = None) -> None:
        """Write down that a clause of the contract is broken."""
        contract.write(self._events, Breach(clause, detail, node))

    def undo(self, pending: PendingUndo) -> None:
        """Do what is pending; raises `UndoFailed` where this version knows no such undo.

        Raises `Refused` where it may hurt and a guard refuses it.
        """
        undo = registry.undo_named(pending.action)
        if undo is None:
            whose = f"node `{pending.node}`" if pending.node else "the cluster"
            raise UndoFailed(
                f"{whose}: its record says that it is put back by `{pending.action}`, which this "
                "version of brownout does not know",
                "heal with the version and the plugins that ran it, or put it back by hand",
            )
        undo.check(self, pending)
        undo.put_back(self, pending)

    # -- what faults do it with ---------------------------------------------------------------

    def perform(
        self,
        act: Act,
        do: Callable[[], Proof],
        finish: Callable[[], dict[str, Any]] = dict,
        rolling: bool = False,
    ) -> Evidence:
        """Write the intent, act, and write the proof; return what the activity returns.

        `finish` waits for the end of what continues after its effect, and returns what was seen of
        it. Until a `rolling` one is at its end no milestone counts: its members go in turn.
        """
        return self.complete(act, self.begin(act), do, finish, rolling)

    def begin(self, act: Act) -> int:
        """Note what the act leaves pending and write its intent; return its event's id.

        It is pending before it is broken, so that a crash in between leaves it counted. Raises
        `RoleMoved` with nothing touched where the node is no longer what was asked for.
        """
        before: Evidence = {}
        looked = time.monotonic()
        if act.type == "break":
            self.before_break()
            if self._ending():
                raise Refused(
                    f"nothing is touched: the run is ending, so {act.name} does not begin"
                )
            looked = time.monotonic()
            before = self._role_before(act)
        elif act.type == "mend":
            self._watches.undo_begins(act.node, act.name)
        if self._resolves(act):
            act = replace(act, leaves=None)
        left = self.leave(act.leaves) if act.leaves is not None else _NOTHING
        entry = self._intend(act)
        self._left[entry] = left
        self._before[entry] = (looked, before)
        if act.type == "break":
            self._aim.settle(act.node)
        return entry

    def complete(
        self,
        act: Act,
        entry: int,
        do: Callable[[], Proof],
        finish: Callable[[], dict[str, Any]] = dict,
        rolling: bool = False,
    ) -> Evidence:
        """Do what has begun and write its proof; see `perform`."""
        resolves = self._resolves(act)
        with self._unsettled():
            proof = self.attempt(entry, do)
            looked, before = self._before.pop(entry, (0.0, {}))
            self._check_role(act, before, looked, proof)
            if act.type == "mend":
                before |= self._watches.undone(act.name, act.node, proof)
            effective = self._to_t(proof.effective_monotonic)
            evidence = {**before, **evidence_of(proof)}
            self._events.effective(entry, effective, proof.uncertainty_s, evidence)
            self._watch(act, entry, proof)
            if resolves:
                self.resolve(act.name, act.node, act.setting)
            if act.name in ("add_node", "remove_node"):
                self._expect()
            seen = self._noting(entry, finish) if rolling else None
        if seen is None:
            seen = self._noting(entry, finish)
        self._events.ended(entry, evidence=seen)
        return {"node": act.node, "effective": effective, "evidence": evidence, **seen}

    def attempt(self, entry: int, do: Callable[[], Proof]) -> Proof:
        """Do what has begun; what its server or machine refuses leaves nothing to be undone."""
        added, replaced = self._left.pop(entry, _NOTHING)
        try:
            return self._noting(entry, do)
        except Refused:
            with self._lock:
                rest = (each for each in self._pending if each not in added)
                self._pending = (*replaced, *rest)
            self._watches.keep(self.pending)
            raise

    def _intend(self, act: Act) -> int:
        """Write that `act` is about to be done; return its event's id."""
        undo = act.leaves.event() if act.leaves else None
        entry = self._events.intent(
            act.type, act.name, node=act.node, undo=undo, arguments=act.arguments
        )
        if act.type == "break":
            self._breaks.add(entry)
        return entry

    def _noting(self, entry: int, do: Callable[[], T]) -> T:
        """Do it; where that fails, write why."""
        try:
            return do()
        except Refused as error:
            self._events.refused(entry, str(error))
            self._breaks.discard(entry)
            raise
        except BrownoutError as error:
            self.note_failure(entry, error)
            raise

    def note_failure(self, entry: int, error: BrownoutError) -> None:
        """Write why what was intended could not be done."""
        self._events.failed(entry, str(error))

    def leave(self, pending: PendingUndo) -> tuple[Pending, Pending]:
        """Note one more undo that is pending; return what that added, and what it replaced."""
        with self._lock:
            before, self._pending = self._pending, undos.add(self._pending, pending)
            difference = undos.changed(before, self._pending)
        self._watches.keep(self.pending)
        return difference

    def resolve(self, action: str, node: str | None, setting: str = "") -> None:
        """Note that this undo is no longer pending."""
        with self._lock:
            self._pending = undos.resolve(self._pending, action, node, setting)
        self._watches.keep(self.pending)

    def check_here(self, action: Action, node: Node) -> None:
        """Raise `Unsupported` where an action can never be done to a node as it is set up."""
        if reason := action.why_not_here(node):
            raise Unsupported(reason)

    def check_break(
        self,
        node: Node,
        act: str,
        objections: Sequence[str] = (),
        neighbours: Sequence[Node] = (),
    ) -> None:
        """Refuse a break that the inventory, the nodes down or the cluster's state forbid.

        `neighbours` are nodes of its machine that it hits too.
        """
        broken, hit = self.hit, [each.name for each in neighbours]
        missing = []
        if not {node.name, *hit} <= broken.keys() and not (self._while_degraded and self._breaks):
            missing = still_unmet(self.adapter, "whole")
        lost = self._lost([node, *neighbours], act)
        judged = guards.of_break(self.cluster, node.name, act, broken, missing, lost, hit)
        judged += self._of_run(act)
        if first := node.name not in self.broken:
            judged.append(guards.of_address(served_by(node, self.cluster.every)))
        guards.refuse([*judged, guards.possible([*self.pinned(), *objections])])
        earlier = [] if first else self.hit_too(node.name)
        self._hit_too[node.name] = list(dict.fromkeys([*earlier, *hit]))

    def check_change(
        self, act: str, node: Node | None, objections: Sequence[str], whole: bool = True
    ) -> None:
        """Refuse a change that the inventory, the database or a cluster not `whole` forbids."""
        missing = still_unmet(self.adapter, "whole") if whole else []
        name = node.name if node else None
        judged = guards.of_change(self.cluster, name, act, missing, objections)
        guards.refuse([*self._of_run(act), *judged])

    def check_denied(self, act: str) -> None:
        """Refuse an act that the inventory denies, or this hour."""
        guards.refuse([*self._of_run(act), guards.of_act(self.cluster, act)])

    def guards_of_undo(self, act: str, node: str | None) -> list[Guard]:
        """Judge an undo that may hurt, by each inventory that guards the cluster."""
        now = datetime.now(UTC)
        return [
            guard
            for cluster in self._guarding
            for guard in guards.of_undo(cluster, node, act, self.confirmation, now)
        ]

    def _of_run(self, act: str) -> list[Guard]:
        """Judge the environment and the hour again: a run may have begun long ago."""
        return guards.of_cluster(self.cluster, [act], self.confirmation, datetime.now(UTC))

    def pinned(self) -> list[str]:
        """Return why no node may be started again until settings are put back.

        A node starts with the replication factor of its configuration, and nodes of different
        factors form no cluster.
        """
        changed = any(each.setting == "replication_factor" for each in self.pending)
        why = "replication_factor was changed by this run, and a node starts with its own"
        return [why] if changed else []

    def gone(self, *nodes: Node) -> list[Node]:
        """Return these nodes and all that are broken: the others have to do without their data."""
        names = {*self.broken, *(node.name for node in nodes)}
        return [self.cluster.node(name) for name in sorted(names)]

    def would_lose(self, nodes: Sequence[Node], within_s: float = LOOK_AGAIN_WITHIN_S) -> list[str]:
        """Return what would still be lost with these nodes' data after `within_s` seconds."""
        return await_nothing(lambda: self.adapter.would_lose(nodes), within_s, poll_s=0.1)

    def unsupported(self, need: str) -> Unsupported:
        """Return the error of what this cluster's database cannot do."""
        reason = self.adapter.supports(need).reason or "this database's adapter does not do it"
        return Unsupported(f"cluster `{self.cluster.name}`: {need}: {reason}; nothing is touched")

    def _role_before(self, act: Act) -> Evidence:
        """Return the role of the node that is about to be broken, as its database says it is.

        Where it is not the one that was asked for, that is refused, or written down as a breach of
        the contract where the fault has begun on another node.
        """
        if act.node is None or act.node in self.broken:
            return {}
        role = role_now(self.adapter, act.node)
        asked = self._roles.pop(act.node, "") or self._aim.role_of(act.node)
        if asked and role != asked:
            detail = f"node `{act.node}` is {role or 'no member'} at {act.name}, wanted a {asked}"
            if not self.broken:
                raise RoleMoved(f"nothing is touched: {detail}", "the role moves; try again")
            contract.write(self._events, Breach(contract.ROLE, detail, act.node))
        return {"role": role, "role_asked": asked} if asked else {"role": role} if role else {}

    def _check_role(self, act: Act, before: Evidence, looked: float, proof: Proof) -> None:
        """Write down where the node was no longer primary when the break took effect.

        It was when it was asked right before, but an act may take a while.
        """
        if act.node is None or before.get("role_asked") != "primary" or proof.already:
            return
        effect = proof.effective_monotonic - proof.uncertainty_s
        if self.claimed_primary(act.node, looked, effect) is False:
            detail = f"node `{act.node}` was no longer primary when {act.name} took effect"
            contract.write(self._events, Breach(contract.ROLE, detail, act.node))

    def _watch(self, act: Act, entry: int, proof: Proof) -> None:
        """Look at a fault from now until its undo, where the undo says how."""
        left = next((each for each in self.pending if each == act.leaves), None)
        if act.type != "break" or left is None or left.node is None:
            return
        undo, node = registry.undo_named(left.action), self.cluster.node(left.node)
        if undo is not None and isinstance(undo, HostAction) and undo.on_host:
            host, seen = self.host(node), evidence_of(proof)
            self._watches.begin(
                left, entry, act.name, proof, lambda: undo.is_in_place(node, host, seen)
            )

    def _lost(self, nodes: Sequence[Node], act: str) -> list[str]:
        """Return what would be lost with the data of `nodes`, where `act` may lose it."""
        if act in guards.MAY_LOSE and not self.cluster.allow_data_loss:
            return self.would_lose(nodes)
        return []

    def _resolves(self, act: Act) -> bool:
        if act.type == "mend":
            return True
        return undos.resolves(self.pending, act.name, act.node, act.setting)

    @contextmanager
    def _unsettled(self) -> Iterator[None]:
        """Let no milestone count before what is done in here is done."""
        self._half_made = True
        try:
            yield
        finally:
            self._half_made = False

    def _expect(self) -> None:
        if isinstance(self.adapter, Resizing):
            self.adapter.expect(self.members)
