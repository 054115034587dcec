"""A node becomes a member.

started ──▶ finds the others by its own seeds ──▶ one new cluster, all agree on its key
             else each of them is told of it (`tip:`)
"""

import time
from functools import partial

from brownout.base.errors import ClusterError, Refused
from brownout.databases.adapter import MilestoneState
from brownout.databases.aerospike.mesh import NETWORK, Endpoint, endpoint_of, seeds
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.view import judge, stable_command
from brownout.databases.aerospike.waits import await_said, since
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["join"]

#: A node whose configuration names a member is in the cluster long before.
_BY_ITSELF_S = 10.0
#: A node with data reads its storage first.
_TIMEOUT_S = 120.0


def join(panel: Panel, node: Node) -> Proof:
    """Have `node`, whose process runs, taken in; effective when all have one key, the node's too.

    Raises `ClusterError` with what each node says if that does not come about.
    """
    asked = time.monotonic()
    state = _together(panel, node)
    if state.reached:
        return since(asked, _evidence(state, {}), already=True)
    tipped: dict[str, str] = {}
    try:
        uncertainty_s = _await(panel, node, _BY_ITSELF_S)
    except ClusterError:
        tipped = _tip(panel, node)
        uncertainty_s = _await(panel, node, _TIMEOUT_S)
    return Proof(time.monotonic(), uncertainty_s, _evidence(_together(panel, node), tipped))


def _everybody(panel: Panel, node: Node) -> list[Node]:
    return [*(other for other in panel.nodes if other.name != node.name), node]


def _together(panel: Panel, node: Node) -> MilestoneState:
    """Whether all nodes are in one cluster with `node`, be there data to migrate or not."""
    nodes = _everybody(panel, node)
    command = stable_command(len(nodes), migrations=False)
    return judge(panel.views_of(nodes, (command,)), command)


def _await(panel: Panel, node: Node, timeout_s: float) -> float:
    return await_said(
        lambda: _together(panel, node).reached, partial(_words, panel, node), timeout_s
    )


def _words(panel: Panel, node: Node) -> str:
    missing = "; ".join(_together(panel, node).detail["missing"])
    return f"node `{node.name}` is not in one cluster with the others: {missing or 'it is now'}"


def _tip(panel: Panel, node: Node) -> dict[str, str]:
    """Tell each member where the node listens; return what each answered, or why it was not told.

    A member that knows the node already answers with an error; it does not count as one here.
    """
    try:
        where = endpoint_of(node)
    except Refused as error:
        return {"nobody": error.message}
    others = [other for other in panel.nodes if other.name != node.name]
    return dict(panel.each(partial(_tell, panel, where=where), others))


def _tell(panel: Panel, member: Node, where: Endpoint) -> tuple[str, str]:
    name = where.name_beside(seeds(panel.look(member, (NETWORK,))))
    command = f"tip:host={name};port={where.port}"
    view = panel.look(member, (command,))
    return member.name, f"{command} {view.answers.get(command) or view.error}"


def _evidence(state: MilestoneState, tipped: dict[str, str]) -> dict[str, object]:
    keys = state.detail["cluster_keys"]
    return {"cluster_key": keys[0] if keys else "", "tipped": tipped}
