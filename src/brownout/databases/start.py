"""Starting a node, as its database wants it."""

from dataclasses import replace

from brownout.databases.adapter import Adapter, Returning
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof

__all__ = ["start"]


def start(node: Node, host: Host, adapter: Adapter, emptied: bool) -> Proof:
    """Start the node's process, once the others are ready for it, and introduce it to them.

    `emptied` says that we emptied it: if its data are gone for another reason, such as a disk that
    is not mounted, replacing it would do more harm. The evidence says what was done besides. Raises
    `ClusterError` if they cannot be made ready, with nothing started, or if it does not get to know
    them.
    """
    if not isinstance(adapter, Returning):
        return host.start()
    before = adapter.before_start(node, emptied)
    proof = host.start()
    after = adapter.after_start(node, emptied)
    return replace(proof, evidence={**proof.evidence, **before, **after})
