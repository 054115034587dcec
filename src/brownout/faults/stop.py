"""Stop a node in order, and start it: what undoes a stop, a kill and a wipe."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ConfigurationError
from brownout.databases.start import start
from brownout.faults.act import FINISH_WIPE, PROCESS, Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.faults.wipe import check_wipes
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["StartNode", "StopNode", "Stopping", "start_if_ended"]


class Stopping(NodeFault):
    """What ends a node's process, which `start_node` undoes."""

    undo_name = "start_node"

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """A node that is to be wiped then is stopped only where that will be allowed."""
        super().check(faults, node)
        check_wipes(faults, [node])


class StopNode(Stopping):
    """Stop `node` and wait until its process is gone. Undone by `start_node`.

    `mode` is `clean` (SIGTERM) or `kill` (SIGKILL).
    """

    name, act, words = "stop_node", "stop", "stopped"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    command = "stop"

    def run(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Stop it in order, or kill it."""
        mode = arguments.get("mode", "clean")
        if mode not in ("clean", "kill"):
            raise ConfigurationError(f"mode: found {mode!r}, wanted clean or kill")
        if mode == "kill":
            return faults.run("kill_node", node)
        return super().run(faults, node)

    def do(self, faults: "Faults", node: Node, mode: str = "clean") -> Proof:
        """Have it end as its own service would; proven when its process is gone.

        A server that is told to end refuses its users before its process is gone, some of them for
        seconds. So the effect counts from when it was told.
        """
        asked = time.monotonic()
        gone = faults.host(node).stop("clean")
        if gone.already:
            return gone
        took = {"gone_after_s": round(gone.effective_monotonic - asked, 3)}
        return Proof(asked, 0.0, {**gone.evidence, **took})

    def verb(self, arguments: Arguments) -> str:
        """Return the command of its mode."""
        return "kill" if arguments.get("mode") == "kill" else "stop"


def start_if_ended(faults: "Faults", node: Node) -> bool:
    """Start a node that ended by what was done to it, and return whether it had.

    One that the run stopped stays stopped until its own undo.
    """
    if any(each.is_for(StartNode.name, node.name) for each in faults.pending):
        return False
    return not start(node, faults.host(node), faults.adapter, emptied=False).already


class StartNode(NodeUndo):
    """Start `node` and wait until its process runs. Does nothing to a node that runs."""

    name, act, words = "start_node", "start", "started"
    command, rank = "start", PROCESS

    def run(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Start it. A wipe that was cut short is finished first, or the node stays stopped.

        A server does not start on half of its files.
        """
        for pending in faults.pending:
            if pending.action == FINISH_WIPE and pending.node == node.name:
                faults.undo(pending)
        return super().run(faults, node)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Start its process; proven when it exists and did not end at once."""
        emptied = faults.has_begun("wipe_node", node.name)
        return start(node, faults.host(node), faults.adapter, emptied)

    def is_due(self, node: Node, host: Host) -> bool:
        """A node of a cluster that was whole does not run."""
        return not host.running().running
