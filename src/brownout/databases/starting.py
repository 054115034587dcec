"""Starting a node, as its database wants it."""

from dataclasses import replace

from brownout.databases.adapter import Adapter, Readmitting
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof

__all__ = ["start"]


def start(node: Node, host: Host, adapter: Adapter, emptied: bool) -> Proof:
    """Start the node's process, after the others have taken it in again where that has to be.

    They do that only for a node that we have `emptied`: if its data are gone for another reason,
    such as a disk that is not mounted, removing it from the cluster would do more harm. The
    evidence says what they did. Raises `ClusterError` if they cannot, with nothing started.
    """
    taken_in = adapter.readmit(node) if emptied and isinstance(adapter, Readmitting) else {}
    proof = host.start()
    return replace(proof, evidence={**proof.evidence, **taken_in})
