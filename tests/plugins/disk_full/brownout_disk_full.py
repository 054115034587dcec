"""The file system that holds a node's data is full: of nodes that are processes of this machine."""

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
from brownout.machine.host import Host, Proof

#: Takes the space; beside the node's data, so that it is in the same file system.
NAME = "brownout-fills-this-disk"
MIB = 1 << 20


class FillDisk(NodeFault):
    """Fill the file system that holds the data of `node`, but for `leave_mb`.

    Undone by `free_disk`.
    Refused where other nodes, or this machine itself, have anything in that file system.
    """

    name, act, undo_name = "fill_disk", "disk_full", "free_disk"
    words = "left without disk space"

    def why_not_on(self, node: Node, host: Host) -> str:
        """Only a process of this machine: its files are ours to fill up."""
        here = node.host is not None and node.host.kind == "process"
        return "" if here else f"node `{node.name}` is not a process of this machine"

    def why_not_now(self, faults: Faults, node: Node, leave_mb: int = 0) -> list[str]:
        """No other node, and not this machine itself, may run out of space."""
        device = _directory(faults.adapter, node).stat().st_dev
        own = device == Path("/").stat().st_dev
        problems = ["it is the machine's own file system"] if own else []
        others = [other for other in faults.cluster.every if other.name != node.name]
        for other in others:
            if _directory(faults.adapter, other).stat().st_dev == device:
                problems.append(f"node `{other.name}` has its data there too")
        return [f"node `{node.name}`: {each}" for each in problems]

    def do(self, faults: Faults, node: Node, leave_mb: int = 0) -> Proof:
        """Take what is free; proven by what is free then."""
        directory = _directory(faults.adapter, node)
        before = time.monotonic()
        with (directory / NAME).open("ab") as file:
            while (more := _free(directory) - leave_mb * MIB) > 0:
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, more)
                except OSError:  # the node took some of it meanwhile
                    if more < MIB:
                        break
                    time.sleep(0.01)
        free, now = _free(directory), time.monotonic()
        if free > (leave_mb + 1) * MIB:
            raise HostError(f"{directory}: {free} bytes are free still")
        return Proof(now, now - before, {"directory": str(directory), "free_bytes": free})

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Mapping[str, Any]) -> str:
        """Say which file grows."""
        return f"fill {_directory(adapter, node) / NAME}"


class FreeDisk(NodeUndo):
    """Give `node` its disk space back, and start it if it stopped without it."""

    name, act, words = "free_disk", "disk_full", "given its disk space back"

    def is_in_place(self, node: Node, host: Host, proof: Mapping[str, Any]) -> bool:
        """The file is there; asked once a second until then."""
        return NAME in host.entries(Path(proof["directory"]))

    def do(self, faults: Faults, node: Node) -> Proof:
        """Remove the file that takes the space."""
        directory, before = _directory(faults.adapter, node), time.monotonic()
        (directory / NAME).unlink(missing_ok=True)
        now = time.monotonic()
        started = faults.host(node).start()
        seen = {"free_bytes": _free(directory), "started": not started.already}
        return Proof(now, now - before, seen)


def _directory(adapter: Adapter, node: Node) -> Path:
    return adapter.data_directories(node)[0]


def _free(directory: Path) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize
