"""Stop a node in order, and start it: what undoes a stop, a kill and a wipe."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.base.wait import wait_until
from brownout.databases.start import start
from brownout.faults.act import FINISH_WIPE, PROCESS, Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.faults.wipe import check_wipes
from brownout.inventory.model import Node
from brownout.machine.host import Host, ProcessState, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["StartNode", "StopNode", "Stopping", "start_if_ended"]


logger = logging.getLogger("chaostoolkit")

#: What tells one life of a node from the next, whatever kind of host it has.
_LIFE = ("pid", "started_ticks", "uid", "container_id", "started_at", "restarts")
#: How long a process may take to end once it was killed: a blocked one ends late.
_DIES_WITHIN_S = 5.0
#: How long it may take after a clean stop that its host does not limit: systemd kills after 90 s.
_STOPS_WITHIN_S = 90.0


class Stopping(NodeFault):
    """What ends a node's process, which `start_node` undoes."""

    undo_name = "start_node"

    def undo_value(self, faults: "Faults", node: Node) -> Any:
        """Return which process is to end, and until when (seconds since 1970) it may do so.

        An undo that comes sooner must not take this process for one that was started again.
        """
        life = _life(faults.host(node).running())
        until = time.time() + self.ends_within_s(node)
        return {"life": life, "until": round(until, 1)} if life else None

    def ends_within_s(self, node: Node) -> float:
        """Return how many seconds after its intent the process may end at the latest."""
        return _DIES_WITHIN_S

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
        try:
            gone = faults.host(node).stop("clean")
        except Refused:
            raise
        except BaseException:  # also that of a signal: it was told, and may still end
            faults.told_to_end.add(node.name)
            raise
        if gone.already:
            return gone
        took = {"gone_after_s": round(gone.effective_monotonic - asked, 3)}
        return Proof(asked, 0.0, {**gone.evidence, **took})

    def ends_within_s(self, node: Node) -> float:
        """Return the limit of a clean stop, and as much again: it has passed when a stop fails."""
        return 2 * float(getattr(node.host, "stop_timeout_s", None) or _STOPS_WITHIN_S)

    def verb(self, arguments: Arguments) -> str:
        """Return the command of its mode."""
        return "kill" if arguments.get("mode") == "kill" else "stop"


def _life(state: ProcessState) -> dict[str, Any]:
    """Return which life of its node's process this is; nothing where it has none."""
    if not state.running:
        return {}
    return {key: state.evidence[key] for key in _LIFE if state.evidence.get(key) is not None}


def _await_end(faults: "Faults", node: Node) -> None:
    """Wait for the end of a process that a fault was about to end, if it is still the same one.

    Where the run died in between, it may never have been told. Raises `HostError` where it was, and
    still runs after all the time that it may take.
    """
    host = faults.host(node)
    values = [each.value for each in faults.pending if each.is_for(StartNode.name, node.name)]
    value = values[0] if values and isinstance(values[0], Mapping) else {}
    life, left_s = value.get("life"), float(value.get("until", 0.0)) - time.time()
    was_told = node.name in faults.told_to_end
    if not life or (left_s <= 0 and not was_told) or _life(host.running()) != life:
        return
    logger.info(f"brownout: node `{node.name}` may still be stopping; waiting for its end")
    ended = wait_until(lambda: _life(host.running()) != life, max(0.0, left_s))
    if not ended and was_told:
        raise HostError(
            f"node `{node.name}` was told to stop and still runs ({host.running().describe()}); it "
            "may yet end",
            "run `brownout heal` when it has ended, or when you are sure that it stays",
        )


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
        """Start its process; proven when it exists and did not end at once.

        It waits for a process that is still ending, which does not prove that the node runs.
        """
        _await_end(faults, node)
        emptied = faults.has_begun("wipe_node", node.name)
        return start(node, faults.host(node), faults.adapter, emptied)

    def is_due(self, node: Node, host: Host) -> bool:
        """A node of a cluster that was whole does not run."""
        return not host.running().running
