"""Take a node out of service in order, and have the nodes form their cluster anew."""

from typing import TYPE_CHECKING, Any

from brownout.databases.adapter import Quiescing
from brownout.faults.act import Act, Evidence, PendingUndo, evidence_of
from brownout.faults.fault import Fault, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["QuiesceNode", "Recluster", "UnquiesceNode"]


class QuiesceNode(NodeFault):
    """Mark `node` as quiesced, proven in every namespace. It takes effect with `recluster`.

    Refused while the cluster is degraded or migrating. Undone by `unquiesce_node`.
    """

    name, act, words, undo_name = "quiesce_node", "quiesce", "quiesced", "unquiesce_node"
    module = "aerospike"
    on_host = False
    summary = "quiesce: to {}"

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """Never something milder where the database cannot quiesce."""
        _quiescing(faults)
        super().check(faults, node)

    def run_unguarded(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Mark it; its event is effective with the next recluster, and never without one."""
        act = Act("break", self.name, node.name, PendingUndo(self.undo_name, node.name))
        entry = faults.begin(act)
        proof = faults.attempt(entry, lambda: self.do(faults, node))
        if proof.already:
            return faults.complete(act, entry, lambda: proof)
        faults.awaiting_effect.append((act, entry))
        return {"node": node.name, "effective": None, "evidence": evidence_of(proof)}

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Have it leave its work to others from the next recluster on."""
        return _quiescing(faults).quiesce(node)


class Recluster(Fault):
    """Have the nodes form their cluster anew: a quiesced node then leaves its work to others.

    Told to every node, since only the principal does it, until one accepts.
    """

    name, act, words = "recluster", "quiesce", "the cluster formed anew"
    module = "aerospike"
    node, takes_node = None, False
    summary = "recluster: to every node"

    def run(self, faults: "Faults", node: None = None) -> Evidence:
        """Give every quiesce before it its effect; with none it breaks nothing, and is a mend."""
        adapter, waiting = _quiescing(faults), faults.awaiting_effect
        act = Act("break" if waiting else "mend", self.name, None)
        entry = faults.begin(act)
        proof = faults.attempt(entry, adapter.recluster)
        while waiting:
            faults.complete(*waiting.pop(0), lambda: proof)
        return faults.complete(act, entry, lambda: proof)


class UnquiesceNode(NodeUndo):
    """Give `node` its work back, recluster included; waits until it is in the cluster.

    Does nothing to a node that is not quiesced, as after its restart.
    """

    name, act, words = "unquiesce_node", "unquiesce", "given its work back"
    module = "aerospike"
    on_host = False
    summary = "quiesce-undo: to {}, recluster: to every node"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Undo the quiesce and form the cluster anew."""
        return faults.adapter.undrain(node)


def _quiescing(faults: "Faults") -> Quiescing:
    """Return the adapter, if its database can quiesce; never something milder instead."""
    if faults.adapter.supports("quiesce").ok and isinstance(faults.adapter, Quiescing):
        return faults.adapter
    raise faults.unsupported("quiesce")
