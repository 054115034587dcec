"""The file system that holds a node's data is full: of nodes that are processes of this machine."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError, Unsupported
from brownout.databases.adapter import Adapter, Support
from brownout.faults.fault import NodeFault, NodeUndo
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof, host_for

#: Takes the space; beside the node's data, so that it is in the same file system.
NAME = "brownout-fills-this-disk"
MIB = 1 << 20


class FillDisk(NodeFault):
    """Fill the file system that holds the data of `node`, but for `leave_mb`.

    Undone by `free_disk`.
    Refused where other nodes, or this machine itself, have anything in that file system.
    """

    name, act, undo = "fill_disk", "disk_full", "free_disk"
    words = "left without disk space"

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support:
        """Only a process of this machine: its files are ours to fill up."""
        elsewhere = [n.name for n in cluster.nodes if n.host is None or n.host.kind != "process"]
        why = f"{', '.join(elsewhere)}: not a process of this machine" if elsewhere else ""
        return Support(not elsewhere, why)

    def ready(self, node: Node) -> Host:
        """Return the node's host, if it is a process of this machine."""
        if node.host is None or node.host.kind != "process":
            raise Unsupported(f"node `{node.name}` is not a process of this machine")
        return host_for(node)

    def objections(self, faults: Faults, node: Node, leave_mb: int = 0) -> list[str]:
        """Nobody else may run out of space."""
        device = _directory(faults.adapter, node).stat().st_dev
        found = ["it is the machine's own file system"] if device == Path("/").stat().st_dev else []
        others = [other for other in faults.cluster.every if other.name != node.name]
        for other in others:
            if _directory(faults.adapter, other).stat().st_dev == device:
                found.append(f"node `{other.name}` has its data there too")
        return [f"node `{node.name}`: {each}" for each in found]

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

    def told(
        self,
        cluster: Cluster,
        adapter: Adapter | None,
        node: Node | None,
        arguments: Mapping[str, Any],
    ) -> list[str]:
        """Say which file grows."""
        if adapter is None or node is None:
            return ["fill the file system of the target"]
        return [f"{node.name} ({node.address}): fill {_directory(adapter, node) / NAME}"]


class FreeDisk(NodeUndo):
    """Give `node` its disk space back, and start it if it stopped for lack of it."""

    name, act, words = "free_disk", "disk_full", "given its disk space back"

    def is_in_place(self, host: Host, proof: Mapping[str, Any]) -> bool:
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
