"""A node's network as a test changes it: cut off, slowed, and looked at."""

from collections.abc import Sequence
from typing import Any

from brownout.base.errors import Unsupported
from brownout.inventory.model import Node
from brownout.machine import delay, partition
from brownout.machine.host import Host, Proof, host_for
from brownout.machine.packet_filter import Match

__all__ = ["Link", "delayable", "partitionable"]


class Link:
    """One node and its host; what else is asked of it is asked of the host."""

    def __init__(self, node: Node, host: Host | None = None) -> None:
        self.node, self.host = node, host or host_for(node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.host, name)

    def why_no_partition(self) -> str:
        """Return why the node cannot be cut off; empty if it can."""
        return partition.FILTER.why_not(self.host.network())

    def partition(self, addresses: Sequence[str], undo_after_s: float | None = None) -> Proof:
        """Cut the node off from these."""
        match = Match(addresses=tuple(addresses))
        return partition.FILTER.drop(self.host.network(), match, undo_after_s)

    def heal_partition(self) -> Proof:
        """Let it reach every other node again."""
        return partition.undo_on(self.node, self.host)

    def cut_off(self) -> list[str]:
        """Return what it is cut off from."""
        return list(partition.FILTER.look(self.host.network()).addresses)

    def why_no_delay(self) -> str:
        """Return why the node cannot be slowed; empty if it can."""
        return delay.why_not(self.node, self.host)

    def delay(self, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None) -> Proof:
        """Slow what the node sends."""
        return delay.slow(self.node, self.host, latency_ms, jitter_ms, undo_after_s)

    def undelay(self) -> Proof:
        """Let it be as fast as it is."""
        return delay.undo_on(self.node, self.host)

    def delayed(self) -> str:
        """Return by what it is slowed; empty for nothing."""
        return delay.left_on(self.node, self.host)


def partitionable(node: Node) -> Link:
    """Return the link of a node that can be cut off; raises `Unsupported` with the reason."""
    link = Link(node)
    if reason := link.why_no_partition():
        raise Unsupported(reason)
    return link


def delayable(node: Node) -> Link:
    """Return the link of a node that can be slowed; raises `Unsupported` with the reason."""
    link = Link(node)
    if reason := link.why_no_delay():
        raise Unsupported(reason)
    return link
