"""Taking a node out of service and back, as the Enterprise Edition does it.

    quiesce: ──▶ pending_quiesce=true ──▶ recluster: ──▶ effective_is_quiesced=true
                                         (to every node: only the principal does it)

Nothing happens before the nodes form their cluster anew; then others are master of the node's
partitions, and clients learn of it at their next look at the partition map, usually a second.
"""

import time
from collections.abc import Callable

from brownout.cluster.aerospike.info import is_error
from brownout.cluster.aerospike.panel import Panel
from brownout.cluster.aerospike.view import View
from brownout.cluster.host import Proof
from brownout.cluster.model import Node
from brownout.errors import BrownoutError, ClusterError

__all__ = ["quiesce", "recluster", "undo"]

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
    _await(
        lambda: panel.view(node, panel.numbers()).says("pending_quiesce") == {"true"},
        f"node `{node.name}` does not say pending_quiesce=true in every namespace after quiesce:",
    )
    return _since(asked, {"pending_quiesce": True})


def recluster(panel: Panel) -> Proof:
    """Have the cluster formed anew; effective when the principal accepted.

    Proven when all nodes that answer are in one new cluster, and each is quiesced that is to be,
    and no other.
    """
    before = {view.key for view in panel.views(("statistics",)) if view.key}
    asked, answers = _accepted(panel)
    accepted = time.monotonic()
    _await(
        lambda: _formed(panel.views(panel.numbers()), before),
        "the nodes have not formed one new cluster after recluster:",
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
    _await(
        lambda: bool(panel.view(node, ("statistics",)).key),
        f"node `{node.name}` is not in the cluster, so it cannot take its work back",
        _JOIN_S,
    )
    view = panel.view(node, panel.numbers())
    if view.says("pending_quiesce", "effective_is_quiesced") == {"false"}:
        return _since(asked, {"is_quiesced": False}, already=True)
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
    said = panel.view(node, (command,)).answers.get(command, "")
    if said == _STAYS:
        raise ClusterError(
            f"node `{node.name}` answers {command} with {said}",
            "it has `stay-quiesced true`: set that to false, or restart it without",
        )
    if is_error(said) or said != "ok":
        raise ClusterError(f"node `{node.name}` answers {command} with {said or 'nothing'}")


def _accepted(panel: Panel) -> tuple[float, dict[str, str]]:
    """Tell every node until one accepts; return when that one was asked, and what each said.

    Only the principal does it, the others pass it by; and while a round is running, it says
    `ERROR::unknown`.
    """
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        asked = time.monotonic()
        views = panel.views(("recluster:",))
        answers = {view.node: view.answers.get("recluster:") or view.error for view in views}
        if "ok" in answers.values():
            return asked, answers
        if asked > deadline:
            said = "; ".join(f"{name}: {answer}" for name, answer in answers.items())
            raise ClusterError(f"no node accepts recluster: within {_TIMEOUT_S:g} s: {said}")
        time.sleep(_POLL_S)


def _formed(views: list[View], before: set[str]) -> bool:
    """Whether the nodes that answer are in one new cluster, each as quiesced as it is to be."""
    answering = [view for view in views if not view.error]
    keys = {view.key for view in answering}
    done = all(
        view.says("pending_quiesce") == view.says("effective_is_quiesced") for view in answering
    )
    return done and len(keys) == 1 and "" not in keys and not keys & before


def _await(holds: Callable[[], bool], otherwise: str, timeout_s: float = _TIMEOUT_S) -> None:
    """Wait until something is so; a node that does not answer in time is asked again."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if holds():
                return
            why = ""
        except BrownoutError as error:
            why = f" ({error})"
        if time.monotonic() > deadline:
            raise ClusterError(f"{otherwise}, within {timeout_s:g} s{why}")
        time.sleep(_POLL_S)


def _since(asked: float, evidence: dict[str, object], *, already: bool = False) -> Proof:
    now = time.monotonic()
    return Proof(now, now - asked, evidence, already=already)
