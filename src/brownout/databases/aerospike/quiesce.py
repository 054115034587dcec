"""Taking a node out of service and back, as the Enterprise Edition does it.

    quiesce: ──▶ pending_quiesce=true ──▶ recluster: ──▶ effective_is_quiesced=true
                                         (to every node: only the principal does it)

Nothing happens before the nodes form their cluster anew; then others are master of the node's
partitions, and clients learn of it at their next look at the partition map, usually a second.
"""

import time

from brownout.base.errors import ClusterError, Refused
from brownout.base.wait import wait_until
from brownout.databases.aerospike.info import is_error
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.view import View
from brownout.databases.aerospike.waits import await_said, since
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["MARKS", "quiesce", "recluster", "undo"]

#: What a node says of itself that is quiesced, or will be with the next recluster.
MARKS = ("pending_quiesce", "effective_is_quiesced")

_TIMEOUT_S = 15.0
#: A node that was just started reads its storage before it answers and joins.
_JOIN_S = 60.0
_POLL_S = 0.05
_STAYS = "ignored-permanently-quiesced"


def quiesce(panel: Panel, node: Node) -> Proof:
    """Mark `node`; proven by its own word in every namespace, which has no effect yet."""
    asked = time.monotonic()
    if panel.view(node, panel.numbers()).is_quiesced:
        return Proof(asked, 0.0, {"pending_quiesce": True, "is_quiesced": True}, already=True)
    _order(panel, node, "quiesce:")
    await_said(
        lambda: panel.view(node, panel.numbers()).says("pending_quiesce") == {"true"},
        lambda: f"node `{node.name}` does not say pending_quiesce=true in every namespace",
        _TIMEOUT_S,
    )
    return since(asked, {"pending_quiesce": True})


def recluster(panel: Panel) -> Proof:
    """Have the cluster formed anew; effective when the principal accepted.

    Proven when all nodes that answer are in one new cluster, and each is quiesced that is to be,
    and no other.
    """
    before = {view.key for view in panel.views(("statistics",)) if view.key}
    asked, answers = _accepted(panel)
    accepted = time.monotonic()
    await_said(
        lambda: _formed(panel.views(panel.numbers()), before),
        lambda: "the nodes have not formed one new cluster after recluster:",
        _TIMEOUT_S,
    )
    views = panel.views(panel.numbers())
    evidence = {
        "answers": answers,
        "cluster_key": next((view.key for view in views if view.key), ""),
        "quiesced": [view.node for view in views if view.is_quiesced],
    }
    return Proof(accepted, accepted - asked, evidence)


def undo(panel: Panel, node: Node) -> Proof:
    """Take the mark from `node` and form the cluster anew; its partitions migrate back to it.

    A node that was restarted meanwhile has forgotten its mark: then nothing is left to do but to
    wait until it is in the cluster.
    """
    asked = time.monotonic()
    await_said(
        lambda: bool(panel.view(node, ("statistics",)).key),
        lambda: f"node `{node.name}` is not in the cluster, so it cannot take its work back",
        _JOIN_S,
    )
    view = panel.view(node, panel.numbers())
    if view.says(*MARKS) == {"false"}:
        return since(asked, {"is_quiesced": False}, already=True)
    _order(panel, node, "quiesce-undo:")
    proof = recluster(panel)
    if panel.view(node, panel.numbers()).is_quiesced:
        raise ClusterError(
            f"node `{node.name}` is quiesced still after quiesce-undo: and recluster:"
        )
    return Proof(
        proof.effective_monotonic, proof.uncertainty_s, {**proof.evidence, "is_quiesced": False}
    )


def _order(panel: Panel, node: Node, command: str) -> None:
    """Tell one node, which says `ok` or why not."""
    answer = panel.view(node, (command,)).answers.get(command, "")
    if answer == _STAYS:
        raise Refused(
            f"node `{node.name}` answers {command} with {answer}",
            "it has `stay-quiesced true`: set that to false, or restart it without",
        )
    if is_error(answer):
        raise Refused(f"node `{node.name}` does not do {command}: it answers {answer}")
    if answer != "ok":
        raise ClusterError(f"node `{node.name}` answers {command} with {answer or 'nothing'}")


def _accepted(panel: Panel) -> tuple[float, dict[str, str]]:
    """Tell every node until one accepts; return when that one was asked, and what each said.

    Only the principal does it, the others pass it by; and while a round is running, it says
    `ERROR::unknown`.
    """

    def tell() -> tuple[float, dict[str, str]]:
        asked = time.monotonic()
        views = panel.views(("recluster:",))
        return asked, {v.node: v.answers.get("recluster:") or v.error for v in views}

    def accepted(attempt: tuple[float, dict[str, str]]) -> bool:
        return "ok" in attempt[1].values()

    last = wait_until(tell, _TIMEOUT_S, _POLL_S, so=accepted)
    if not accepted(last):
        answers = "; ".join(f"{name}: {answer}" for name, answer in last[1].items())
        raise ClusterError(f"no node accepts recluster: within {_TIMEOUT_S:g} s: {answers}")
    return last


def _formed(views: list[View], before: set[str]) -> bool:
    """Whether the nodes that answer are in one new cluster, each as quiesced as it is to be."""
    answering = [view for view in views if not view.error]
    keys = {view.key for view in answering}
    done = all(
        view.says("pending_quiesce") == view.says("effective_is_quiesced") for view in answering
    )
    return done and len(keys) == 1 and "" not in keys and not keys & before
