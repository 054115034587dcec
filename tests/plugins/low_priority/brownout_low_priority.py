"""A node whose process is served last by the scheduler: of nodes that run on this machine."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError
from brownout.databases.adapter import Adapter
from brownout.faults.fault import NodeFault, NodeUndo
from brownout.faults.faults import Faults
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof, already


class LowerPriority(NodeFault):
    """Give every thread of `node` this `niceness`, up to 19. Undone by `restore_priority`."""

    name, act, undo_name = "lower_priority", "low_priority", "restore_priority"
    words = "served last by the scheduler"

    def why_not_on(self, node: Node, host: Host) -> str:
        """Only a process of this machine: its threads are to be seen here."""
        here = node.host is not None and node.host.kind == "process"
        return "" if here else f"node `{node.name}` is not a process of this machine"

    def why_not_now(self, faults: Faults, node: Node, niceness: int = 19) -> list[str]:
        """What is not above it cannot be lowered to it."""
        present = _niceness(faults.host(node))
        if present < niceness:
            return []
        return [f"node `{node.name}`: found a niceness of {present}, wanted one below {niceness}"]

    def undo_value(self, faults: Faults, node: Node) -> int:
        """Return the niceness that it has; it goes into the record."""
        return _niceness(faults.host(node))

    def do(self, faults: Faults, node: Node, niceness: int = 19) -> Proof:
        """Set it; proven by reading it back."""
        return _set(faults.host(node), niceness)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Mapping[str, Any]) -> str:
        """Say what is set."""
        return f"set the niceness of its threads to {arguments.get('niceness', 19)}"


class RestorePriority(NodeUndo):
    """Give every thread of `node` the niceness that it had."""

    name, act, words = "restore_priority", "low_priority", "served as before"

    def is_in_place(self, node: Node, host: Host, proof: Mapping[str, Any]) -> bool:
        """It has the niceness that it was given; asked once a second until then."""
        return bool(_niceness(host) == proof["niceness"])

    def do(self, faults: Faults, node: Node) -> Proof:
        """Set what stands in the record; without one there is nothing to undo."""
        pending = [each for each in faults.pending if each.is_for(self.name, node.name)]
        host = faults.host(node)
        if not pending or not host.running().running:
            return already({})
        return _set(host, int(pending[0].value))


def _niceness(host: Host) -> int:
    return os.getpriority(os.PRIO_PROCESS, host.running().pid or 0)


def _set(host: Host, niceness: int) -> Proof:
    before = time.monotonic()
    for thread in Path(f"/proc/{host.running().pid}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)
    now, present = time.monotonic(), _niceness(host)
    if present != niceness:
        raise HostError(f"found a niceness of {present}, wanted {niceness}")
    return Proof(now, now - before, {"niceness": present})
