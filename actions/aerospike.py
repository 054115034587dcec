"""What only Aerospike can do: take a node out of service before it is stopped, and back.

The safe stop of a node is `drain_and_stop_node`, or as steps `quiesce_node`, `recluster`,
`wait_until_idle` (a probe), `stop_node`. The Community Edition cannot quiesce: there an
experiment that needs it is refused before anything is touched.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["drain_and_stop_node", "quiesce_node", "recluster", "unquiesce_node"]


@activity
def quiesce_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Mark `node` as quiesced, proven in every namespace. It takes effect with `recluster`.

    Refused while the cluster is degraded or migrating. Undone by `unquiesce_node`.
    """
    session = current()
    return session.faults.quiesce(session.node(node))


@activity
def recluster(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Have the nodes form their cluster anew: a quiesced node then leaves its work to others.

    Told to every node, since only the principal does it, until one accepts.
    """
    return current().faults.recluster()


@activity
def unquiesce_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Give `node` its work back, recluster included; waits until it is in the cluster.

    Does nothing to a node that is not quiesced, as after its restart.
    """
    session = current()
    return session.faults.unquiesce(session.node(node))


@activity
def drain_and_stop_node(
    node: str = "target",
    idle_timeout_s: float = 60.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop `node` so that nobody feels it: quiesce, recluster, wait until it is idle, SIGTERM.

    Fails, and leaves the node running, if it still serves after `idle_timeout_s` seconds. Undone
    by `start_node` and then `unquiesce_node`.
    """
    session = current()
    target = session.node(node)
    session.faults.quiesce(target)
    session.faults.recluster()
    session.await_idle(target, float(idle_timeout_s))
    return session.faults.stop(target, "clean")
