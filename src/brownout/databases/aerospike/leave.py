"""A member leaves for good: it hands over its work where it can, and the others forget it.

    leave    Enterprise: quiesce, recluster, idle        Community has no such step
    forget   on each of the others, until it names only members:
             tip-clear:host-port-list=… its seeds        services-alumni-reset its memory

Who restarts with the node among its seeds dials it still: `mesh-seed-address-port` in the others'
configuration files is not ours to change.
"""

import time
from collections.abc import Sequence

from brownout.databases.aerospike.mesh import (
    ALUMNI,
    NETWORK,
    PEERS,
    Endpoint,
    endpoint_of,
    peers,
    seeds,
    strangers,
)
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.quiesce import quiesce, recluster
from brownout.databases.aerospike.view import View
from brownout.databases.aerospike.waits import await_idle, await_said, since
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["forget", "leave"]

#: A node tells its throughput in slices of ten seconds, the second of which is idle throughout.
_IDLE_S = 60.0
#: A node that is gone is a peer until the heartbeats' time-out.
_FORGOTTEN_S = 60.0
_RESET = "services-alumni-reset"
_SERVED = ("client_read_success", "client_write_success", "client_proxy_complete")


def leave(panel: Panel, node: Node) -> Proof:
    """Have others take the node's partitions, and wait until it has no clients.

    Effective when the principal accepted; `already` where there is nothing to be done: the node
    is in no cluster, or it is of the Community Edition.
    """
    asked = time.monotonic()
    view = panel.look(node, panel.numbers())
    if not view.key:
        return since(asked, {"step": f"none: it is {view.state}"}, already=True)
    if panel.community():
        step = "none: the Community Edition cannot quiesce a node"
        return since(asked, {"step": step}, already=True)
    quiesce(panel, node)
    proof = recluster(panel)
    served = view.total(*_SERVED)
    idle = await_idle(panel, node, _IDLE_S, lambda: False) if served else {}
    evidence = {**proof.evidence, "step": "quiesced", "idle": idle or "it had no clients"}
    return Proof(proof.effective_monotonic, proof.uncertainty_s, evidence)


def forget(panel: Panel, node: Node) -> Proof:
    """Have every other node forget `node`; proven when all they name are members.

    Raises `Refused` where the node's own configuration does not say where it listened, and
    `ClusterError` with who still knows it.
    """
    asked, where = time.monotonic(), endpoint_of(node)
    others = [other for other in panel.nodes if other.name != node.name]
    orders: dict[str, list[str]] = {}
    uncertainty_s = await_said(
        lambda: not _remembered(_telling(panel, others, where, orders), where),
        lambda: "; ".join(_remembered(_look(panel, others), where)) or "no node knows it now",
        _FORGOTTEN_S,
    )
    evidence = {"told": orders, "members": len(others)}
    if not orders:
        return since(asked, evidence, already=True)
    return Proof(time.monotonic(), uncertainty_s, evidence)


def _look(panel: Panel, others: Sequence[Node]) -> list[View]:
    return panel.views_of(others, (NETWORK, PEERS, ALUMNI))


def _telling(
    panel: Panel, others: Sequence[Node], where: Endpoint, orders: dict[str, list[str]]
) -> list[View]:
    """Tell each node that names another than the members what to forget; return what all say then.

    What was told is noted in `orders`, by node.
    """
    by_name = {node.name: node for node in others}
    for view in _look(panel, others):
        commands = _commands(view, where)
        if commands:
            panel.look(by_name[view.node], commands)
            orders[view.node] = sorted({*orders.get(view.node, ()), *commands})
    return _look(panel, others)


def _commands(view: View, where: Endpoint) -> list[str]:
    """Return the commands that make a node forget a former member."""
    named = where.named_by(seeds(view))
    commands = [f"tip-clear:host-port-list={','.join(named)}"] if named else []
    return [*commands, _RESET] if strangers(view) else commands


def _remembered(views: Sequence[View], where: Endpoint) -> list[str]:
    """Return in words which nodes still know a former member; empty once it is forgotten."""
    words = []
    for view in views:
        if view.error:
            words.append(f"{view.node}: {view.error}")
        if named := where.named_by(seeds(view)):
            words.append(f"{view.node} still has the seed {', '.join(named)}")
        if ids := strangers(view):
            words.append(f"{view.node} still remembers {', '.join(sorted(ids))}")
        if not view.error and len(peers(view)) != len(views) - 1:
            words.append(f"{view.node} has {len(peers(view))} peers, wanted {len(views) - 1}")
    return words
