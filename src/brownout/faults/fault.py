"""What a fault is: how it is done and undone, what it is called, what it needs.

A fault is one file of this package, or of any other: its module is registered by the entry point
`brownout.faults` under its act (`delay = "brownout.faults.delay"`). From it come its action in
`brownout.actions`, its line in a plan, its word in `deny_acts`, its words in the report, and how
`heal` puts it back.

    Fault ──▶ guards ──▶ intent with the undo's name ──▶ done ──▶ proof        … Undo ──▶ proof

There is one way to say that it cannot be done at all, `why_not_here`, which a plan shows, and one
to say that it cannot be done at this moment, `why_not_now`, which joins the guards of the act.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from brownout.base.errors import BrownoutError, Unsupported
from brownout.databases.adapter import Adapter, Support
from brownout.faults import guards
from brownout.faults.act import PROCESS, Act, Evidence, PendingUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import HOST_ACTS, Host, Proof, Shared, host_for, neighbours

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["NOT_POSSIBLE", "Action", "Fault", "HostAction", "NodeFault", "NodeUndo", "Undo"]
__all__ += ["unfelt"]

Arguments = Mapping[str, Any]

#: How a plan's line begins that says why a node's host cannot do a step.
NOT_POSSIBLE = "NOT POSSIBLE: "


class Action(ABC):
    """What a fault and an undo have in common. The docstring of a subclass is its action's.

    A subclass with a `name` is registered; one without is a base of others.
    """

    #: What its action and its events are called, as `delay_node`.
    name: ClassVar[str] = ""
    #: The word for it in `needs` of an experiment and in `deny_acts` of an inventory, as `delay`.
    act: ClassVar[str] = ""
    #: What became of the node or the cluster, for people: `slowed`.
    words: ClassVar[str] = ""
    #: The module of `brownout.actions` that offers it; empty where there is no action.
    module: ClassVar[str] = "node"
    #: The node that its action means where none is given; None if it is about the cluster.
    node: ClassVar[str | None] = "target"
    #: Whether its action takes a `node` at all.
    takes_node: ClassVar[bool] = True
    #: Whether it is done through the node's host; else the database does it.
    on_host: ClassVar[bool] = False
    #: The one role that its node may have; empty for any.
    of_role: ClassVar[str] = ""
    #: What a plan says it does, in the database's own words; `{}` is the node.
    summary: ClassVar[str] = ""

    @abstractmethod
    def run(self, *args: Any, **kwargs: Any) -> Evidence:
        """Do it, `(faults, node, **arguments)`; `node` is None for what is about the cluster.

        Raises `Refused` or `Unsupported` with nothing touched, and `HostError` or `ClusterError`
        where it did not have its effect.
        """

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with an experiment's arguments, as far as no cluster is asked."""
        return []

    def why_not_here(self, node: Node) -> str:
        """Return why this can never be done to `node` as it is set up; empty if it can.

        Nothing is touched.
        """
        return ""

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support | None:
        """Return whether it can be done to `cluster` at all.

        The database's adapter is asked whether it objects, and for what is done on a host each
        node's host. None where that is not known before it is tried.
        """
        support = adapter.supports(self.act)
        by_hosts = isinstance(self, HostAction) and self.on_host
        if not by_hosts or (support.known and not support.ok):
            return support
        reasons = filter(None, map(self.why_not_here, cluster.nodes))
        reason = next(reasons, "")
        return Support(not reason, reason)

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the arguments of its action besides the node, with types and defaults."""
        method = getattr(cls, "do", None) or cls.run
        return list(inspect.signature(method).parameters.values())[3:]  # self, faults, node

    def plan(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return what a plan says of it, a line each; None for no more than the call.

        `adapter` is None while the lab is down, and `node` as long as it is not chosen.
        """
        if not self.summary:
            return None
        return [self.summary.format(f"{node.name} ({node.address})" if node else "the target")]


class HostAction(Action):
    """What is done through a node's host."""

    #: What `Host.would` calls it; empty where it says itself what it would do.
    command: ClassVar[str] = ""
    on_host = True

    def why_not_here(self, node: Node) -> str:
        """Return why the node's host cannot do this; empty if it can. Nothing is touched."""
        if not self.on_host:
            return ""
        try:
            return self.why_not_on(node, host_for(node))
        except Unsupported as error:
            return error.message

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why `host`, the node's, cannot do this; it may raise `Unsupported` as well."""
        return ""

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return for a plan the command or change that this would be on the node's host.

        By default the host says it, and of what that does not know, this fault's own name.
        """
        verb = self.verb(arguments)
        return host.would(verb, self.directories(adapter, node)) if verb in HOST_ACTS else verb

    def verb(self, arguments: Arguments) -> str:
        """Return what a plan calls it, in the words of `Host.would` if that knows it."""
        return self.command or self.name

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories that it is about."""
        return ()

    def plan(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return what the node's host would do; a node that cannot have it done says why."""
        if not self.on_host or self.summary:
            return super().plan(cluster, adapter, node, arguments)
        if adapter is None:
            return [f"{self.verb(arguments)} the target (the lab is down, so it is not chosen yet)"]
        if node is None:
            return [f"{self.verb(arguments)} the target (not chosen)"]
        try:
            reason = self.why_not_here(node)
            line = reason or self.would(adapter, node, host_for(node), arguments)
        except BrownoutError as error:
            line = reason = str(error)
        return [f"{node.name} ({node.address}): {NOT_POSSIBLE if reason else ''}{line}"]


class Fault(Action):
    """Something that a run does to a cluster, written down before it is done."""

    #: The name of the undo that it leaves pending; empty for none.
    undo_name: ClassVar[str] = ""
    #: What `brownout explore` draws for each of its arguments; None: it is not drawn.
    draws: ClassVar[Mapping[str, Sequence[Any]] | None] = None
    #: What the variables of its experiments are for, by name; `brownout new` writes it beside them.
    variables: ClassVar[Mapping[str, str]] = {}


class Undo(Action):
    """What puts a fault back, named by the events of the fault; safe to repeat."""

    #: Which undo of a node goes first; see `undos`.
    rank: ClassVar[int] = PROCESS + 1
    #: Whether nodes are broken, or members gone, while it is pending, so that no milestone counts.
    breaks: ClassVar[bool] = True
    #: Whether the node serves all the same while it is pending.
    serves: ClassVar[bool] = False
    #: Whether it may hurt, as what stops, removes or restarts something does. Then the guards are
    #: asked before it; what only starts, resumes or joins what the run broke needs no guard.
    hurts: ClassVar[bool] = False
    #: Whether what it undoes bears brownout's own mark on the node, as a table of that name.
    #: That shows who made it, so `heal` undoes it without an event of the run.
    marked: ClassVar[bool] = False
    #: Whether only a mend resolves it, since the fault that it undoes has the same name.
    same_name: ClassVar[bool] = False

    def check(self, faults: "Faults", pending: PendingUndo) -> None:
        """Raise `Refused` where it may hurt and a guard refuses it; nothing is touched."""
        if self.hurts:
            guards.refuse(faults.guards_of_undo(self.act, pending.node))

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Do what is `pending`, also after the run that left it died; `check` was asked."""
        self.run(faults, faults.cluster.node(str(pending.node)))

    def is_due(self, node: Node, host: Host) -> bool | None:
        """Return whether a node needs it now, as its host sees it, whatever a record says.

        None where that cannot be told.
        """
        return None

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool | None:
        """Return whether the fault that it undoes still lasts; asked once a second until the undo.

        It looks at the cause, as the fault's `proof` did. None where that cannot be told.
        """
        return self.is_due(node, host)

    def is_due_for(self, cluster: Cluster) -> bool:
        """Return whether the cluster needs it now, as its operator's own tool says."""
        return False

    def describe(self, pending: PendingUndo) -> str:
        """Return what is pending for people, without the node's name: `start_node`."""
        return pending.action


class NodeFault(HostAction, Fault):
    """A fault of one node: guards, intent, act and proof in this order, the same for all."""

    #: Whether it stays until its undo is done; else it is over with its proof.
    stays: ClassVar[bool] = True
    type: ClassVar[Literal["break", "mend", "change"]] = "break"

    @abstractmethod
    def do(self, *args: Any, **kwargs: Any) -> Proof:
        """Do it, `(faults, node, **arguments)`, and prove it; safe to repeat."""

    def why_not_now(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return in words what stands in the way at this moment: `(faults, node, **arguments)`.

        It is asked with the guards of every break, before anything is done.
        """
        return []

    def size(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return what its event says of its size."""
        return arguments

    def shares(self, node: Node, arguments: Arguments) -> Shared | None:
        """Return what of `node` it hits that other nodes may share; None for nothing."""
        return None

    def undo_value(self, faults: "Faults", node: Node) -> Any:
        """Return what its undo has to know, for the record; asked before it is done."""
        return None

    def neighbours(self, members: Sequence[Node], node: Node, arguments: Arguments) -> list[Node]:
        """Return the other `members` that it hits, since they share its machine or network."""
        what = self.shares(node, arguments)
        return neighbours(node, members, what) if what is not None else []

    def plan(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return what the node's host would do, and which other nodes it hits."""
        lines = super().plan(cluster, adapter, node, arguments)
        if adapter is None or node is None or not lines:
            return lines
        try:
            hit = self.neighbours(cluster.nodes, node, arguments)
        except BrownoutError:  # the plan of the node says so
            return lines
        names = ", ".join(each.name for each in hit)
        return [*lines, f"hits {names} too, on the same machine"] if hit else lines

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """Raise `Refused` where a guard refuses it; nothing is touched."""
        hit = self.neighbours(faults.members, node, arguments)
        faults.check_break(node, self.act, self.why_not_now(faults, node, **arguments), hit)

    def run(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Ask the guards, write the intent, act, write the proof; return what was seen.

        A host that cannot be reached any more raises before the intent: nothing was done then.
        """
        faults.check_here(self, node)
        self.check(faults, node, **arguments)
        if self.on_host:
            faults.host(node).running()
        return self.run_unguarded(faults, node, **arguments)

    def run_unguarded(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Write the intent, act, write the proof: the guards were asked."""
        value = self.undo_value(faults, node)
        leaves = PendingUndo(self.undo_name, node.name, value=value) if self.undo_name else None
        size = self.size(faults, node, **arguments)
        act = Act(self.type, self.name, node.name, leaves, size)
        evidence = faults.perform(act, lambda: self._do(faults, node, arguments))
        if not self.stays:
            faults.resolve(self.undo_name, node.name)
        return evidence

    def _do(self, faults: "Faults", node: Node, arguments: Arguments) -> Proof:
        proof = self.do(faults, node, **arguments)
        others = faults.hit_too(node.name) if self.shares(node, arguments) else []
        return replace(proof, evidence={**proof.evidence, "hits_too": others}) if others else proof


class NodeUndo(HostAction, Undo):
    """An undo on one node."""

    @abstractmethod
    def do(self, *args: Any, **kwargs: Any) -> Proof:
        """Do it, `(faults, node)`, and prove it; safe to repeat."""

    def run(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Write the intent, act, write the proof; return what was seen."""
        faults.check_here(self, node)
        act = Act("mend", self.name, node.name)
        return faults.perform(act, lambda: self.do(faults, node, **arguments))


def unfelt(proof: Proof, node: Node, what: str) -> Proof:
    """Return the proof of an undo with a sentence for the report: `node` never met its limit.

    `what` was limited, as `CPU`.
    """
    sentence = f"{node.name} never needed more {what} than it was left"
    return replace(proof, evidence={**proof.evidence, "unfelt": sentence})
