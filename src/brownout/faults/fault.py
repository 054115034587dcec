"""What a fault is: how it is done and undone, what it is called, what it needs.

A fault is one file of this package, or of any other: its module is registered by the entry point
`brownout.faults` under its act (`delay = "brownout.faults.delay"`). From it come its action in
`brownout.actions`, its line in a plan, its word in `deny_acts`, its words in the report, and how
`heal` puts it back.

    Fault ──▶ guards ──▶ intent with the undo's name ──▶ done ──▶ proof        … Undo ──▶ proof
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from brownout.base.errors import BrownoutError
from brownout.databases.adapter import Adapter, Support
from brownout.faults import guards
from brownout.faults.acts import Act, Evidence
from brownout.faults.undos import PROCESS, PendingUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof, host_for

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["NOT_POSSIBLE", "Action", "Fault", "HostAction", "NodeFault", "NodeUndo", "Undo"]

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
    #: The node that its action means unless it is told; None if it is about the cluster.
    node: ClassVar[str | None] = "target"
    #: Whether its action takes a `node` at all.
    takes_node: ClassVar[bool] = True
    #: Whether it is done through the node's host; else the database does it.
    on_host: ClassVar[bool] = False
    #: What a plan says it does, in the database's own words; `{}` is the node.
    said: ClassVar[str] = ""

    @abstractmethod
    def carry_out(self, *args: Any, **kwargs: Any) -> Evidence:
        """Do it, `(faults, node, **arguments)`; `node` is None for what is about the cluster.

        Raises `Refused` or `Unsupported` with nothing touched, and `HostError` or `ClusterError`
        where it did not have its effect.
        """

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with an experiment's arguments, as far as no cluster is asked."""
        return []

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the arguments of its action besides the node, with types and defaults."""
        method = getattr(cls, "do", None) or cls.carry_out
        return list(inspect.signature(method).parameters.values())[3:]  # self, faults, node

    def told(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return what a plan says of it, a line each; None for no more than the call.

        `adapter` is None while the lab is down, and `node` as long as it is not chosen.
        """
        if not self.said:
            return None
        return [self.said.format(f"{node.name} ({node.address})" if node else "the target")]


class HostAction(Action):
    """A plan's line for what is done through a node's host."""

    #: What `Host.would` calls it.
    command: ClassVar[str] = ""
    on_host = True

    def ready(self, node: Node) -> object:
        """Return the node's host; raises `Unsupported` where it cannot do this. Touches nothing."""
        return host_for(node) if self.on_host else None

    def directories(self, adapter: Adapter, node: Node) -> Sequence[Path]:
        """Return the directories that it is about."""
        return ()

    def told(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return the command that the node's host would run; what cannot be done says so."""
        if not self.command:
            return super().told(cluster, adapter, node, arguments)
        return self.line(adapter, node, self.command)

    def line(self, adapter: Adapter | None, node: Node | None, command: str) -> list[str]:
        """Return what the node's host would run for `command`, or why it cannot."""
        if adapter is None:
            return [f"{command} the target (the lab is down, so it is not chosen yet)"]
        if node is None:
            return [f"{command} the target (not chosen)"]
        try:
            self.ready(node)
            line = host_for(node).would(command, self.directories(adapter, node))
        except BrownoutError as error:
            line = f"{NOT_POSSIBLE}{error}"
        return [f"{node.name} ({node.address}): {line}"]


class Fault(Action):
    """Something that a run does to a cluster, written down before it is done."""

    #: The name of the undo that it leaves pending; empty for none.
    undo: ClassVar[str] = ""

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support | None:
        """Return whether it can be done to `cluster` at all; asks the database's adapter.

        None where nobody can tell before it is tried.
        """
        return adapter.supports(self.act)


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
        """Raise `Refused` where it may hurt and a guard is against it; nothing is touched."""
        if self.hurts:
            guards.refuse(faults.guards_of_undo(self.act, pending.node))

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Do what is `pending`, also after the run that left it died; `check` was asked."""
        self.carry_out(faults, faults.cluster.node(str(pending.node)))

    def is_due(self, host: Host) -> bool | None:
        """Return whether a node needs it now, as its host sees it, whatever a record says.

        None where that cannot be told.
        """
        return None

    def is_in_place(self, host: Host, proof: Evidence) -> bool | None:
        """Return whether the fault that it undoes still lasts; asked once a second until the undo.

        It looks at the cause, as the fault's `proof` did. None where that cannot be told.
        """
        return self.is_due(host)

    def is_due_for(self, cluster: Cluster) -> bool:
        """Return whether the cluster needs it now, as whoever runs it says."""
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

    def objections(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return in words what stands against it now besides the guards: `(faults, node, …)`."""
        return []

    def recorded(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return what its event says of its size."""
        return arguments

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """Raise `Refused` where a guard is against it; nothing is touched."""
        faults.check_break(node, self.act, self.objections(faults, node, **arguments))

    def carry_out(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Ask the guards, write the intent, act, write the proof; return what was seen.

        A host that cannot be reached any more raises before the intent: nothing was done then.
        """
        self.ready(node)
        self.check(faults, node, **arguments)
        if self.on_host:
            faults.host(node).running()
        return self.inflict(faults, node, **arguments)

    def inflict(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Write the intent, act, write the proof: the guards were asked."""
        leaves = PendingUndo(self.undo, node.name) if self.undo else None
        told = self.recorded(faults, node, **arguments)
        act = Act(self.type, self.name, node.name, leaves, told)
        evidence = faults.carry_out(act, lambda: self.do(faults, node, **arguments))
        if not self.stays:
            faults.resolve(self.undo, node.name)
        return evidence


class NodeUndo(HostAction, Undo):
    """An undo on one node."""

    @abstractmethod
    def do(self, *args: Any, **kwargs: Any) -> Proof:
        """Do it, `(faults, node)`, and prove it; safe to repeat."""

    def carry_out(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Write the intent, act, write the proof; return what was seen."""
        self.ready(node)
        act = Act("mend", self.name, node.name)
        return faults.carry_out(act, lambda: self.do(faults, node, **arguments))
