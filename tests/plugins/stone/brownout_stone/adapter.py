"""What Stone is asked: each node itself, whether it answers within half a second."""

import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Unsupported
from brownout.databases.adapter import Member, Milestone, MilestoneState, Support
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["StoneAdapter", "answers"]

_PATIENCE_S = 0.5
_HELLO = 5
_HEAD = ">QBQIq"  # id, verb, sequence, checksum, number; then the key's and the writer's lengths


def answers(node: Node) -> bool:
    """Say whether a node tells its lanes, as it does to every client that comes."""
    host, _, port = node.address.rpartition(":")
    frame = struct.pack(_HEAD, 1, _HELLO, 0, 0, 0) + struct.pack(">HH", 0, 0)
    try:
        with socket.create_connection((host, int(port)), _PATIENCE_S) as asked:
            asked.settimeout(_PATIENCE_S)
            asked.sendall(struct.pack(">I", len(frame)) + frame)
            return bool(asked.recv(1))
    except OSError:
        return False


class StoneAdapter:
    """One cluster of Stone; every node is a primary of what it has."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def ready(self) -> None:
        """Return if a node answers."""
        if not any(member.healthy for member in self.members()):
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer")

    def members(self) -> list[Member]:
        """Return each node: it serves if it answers."""
        found = [(node, answers(node)) for node in self._cluster.nodes]
        return [
            Member(
                node.name, node.address, "primary" if up else "unknown", "UP" if up else "DOWN", up
            )
            for node, up in found
        ]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the first node: there is no more than one."""
        return [n for n in self._cluster.nodes if select in (n.name, "primary", "random")][:1]

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether every node answers; nothing is ever copied."""
        missing = [f"{m.node} is {m.state}" for m in self.members() if not m.healthy]
        return MilestoneState(not missing, {"missing": missing})

    def signature(self) -> str:
        """Return who answers."""
        return " ".join(f"{m.node}={m.state}" for m in self.members())

    def drain(self, node: Node) -> Proof:
        """Stone cannot."""
        raise Unsupported("stone cannot hand over work")

    def undrain(self, node: Node) -> Proof:
        """Stone cannot."""
        raise Unsupported("stone cannot hand over work")

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return whether it answers."""
        return {"state": "UP" if answers(node) else "DOWN"}

    def supports(self, scenario: str) -> Support:
        """Return whether it is the process alone that it is about, and its data stays."""
        act = scenario.replace("_", "-").removeprefix("node-").removesuffix("-node")
        can = act in ("pause", "resume")
        return Support(can, "" if can else f"stone has no {scenario}: it keeps all in memory")

    def engine(self) -> str:
        """Return what runs."""
        return "stone 1.0"

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects."""
        uri = f"scripted://{self._cluster.nodes[0].address}"
        return {"driver": "scripted", "connection": {"uri": uri}, "options": {}}

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """There are none."""
        raise Unsupported("stone keeps nothing on a disk")

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return that no other node has it."""
        return [f"stone keeps one copy, and {node.name} has it" for node in nodes]

    def close(self) -> None:
        """Nothing stays open."""
