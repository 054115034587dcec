"""Starting a node, as its database wants it."""

from dataclasses import replace

from brownout.databases.adapter import Adapter, Readmitting
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof

__all__ = ["start"]


def start(node: Node, host: Host, adapter: Adapter) -> Proof:
    """Start the node's process, after the others have taken it in again where that has to be.

    The evidence says what they did. Raises `ClusterError` if they cannot, with nothing started.
    """
    taken_in = adapter.readmit(node) if isinstance(adapter, Readmitting) else {}
    proof = host.start()
    return replace(proof, evidence={**proof.evidence, **taken_in})
