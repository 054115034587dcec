"""What is asked of an Aerospike cluster, of each of its nodes itself.

Figures are `{"value": 0, "status": "measured", "nodes": {"n1": 0, …}}`. Where a node that has to
be asked is silent, in no cluster or does not say, `status` is `no_data`, `value` is null and
`missing` says why: that is never within a limit.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import ClusterError
from brownout.databases.aerospike import figures
from brownout.databases.aerospike.adapter import AerospikeAdapter, of_aerospike
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = [
    "cluster_key",
    "migrations_remaining",
    "node_is_quiesced",
    "node_tps",
    "partitions_unavailable",
    "records",
    "wait_until_idle",
]

Answer = dict[str, Any]


@activity
def migrations_remaining(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many partitions still migrate, to and from all nodes."""
    return figures.migrations_remaining(_adapter().ask("statistics"))


@activity
def cluster_key(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return the key of the cluster that every node is in; it changes with every change of it."""
    return figures.cluster_key(_adapter().ask("statistics"))


@activity
def node_is_quiesced(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> bool:
    """Say whether `node` leaves its work to others, in every namespace.

    Fails where it does not answer: nothing is known of it then.
    """
    name = current().node(node).name
    (view,) = [view for view in _adapter().ask() if view.node == name]
    if view.error:
        raise ClusterError(view.error)
    return view.is_quiesced


@activity
def partitions_unavailable(configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return how many partitions are unavailable or dead, by the node that counts most.

    Only with strong consistency is this above 0; the loss of every copy otherwise shows in
    `records` and in the ledger alone.
    """
    return figures.partitions_unavailable(_adapter().ask())


@activity
def records(
    namespace: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> Answer:
    """Return how many records there are, of `namespace` or of all; each counts once.

    About so many while `migrating` is true.
    """
    adapter = _adapter()
    return figures.records(adapter.ask(), adapter.namespaces(namespace))


@activity
def node_tps(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> Answer:
    """Return how many operations a second `node` served, by its own word (`latencies`).

    It tells of whole slices of ten seconds only, so the answer is up to twenty seconds old.
    """
    name = current().node(node).name
    (view,) = [view for view in _adapter().ask("latencies:") if view.node == name]
    return {"node": name, **figures.tps(view)}


@activity(told="latencies: to {}, until it served nothing")
def wait_until_idle(
    node: str = "target",
    timeout_s: float = 60.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> Answer:
    """Wait until `node` says that it served nothing; fails after `timeout_s` seconds.

    Returns `{"node": "n3", "waited_s": 14.2, "value": 0.0, …}` as `node_tps`.
    """
    session = current()
    return session.await_idle(session.node(node), float(timeout_s))


def _adapter() -> AerospikeAdapter:
    return of_aerospike(current().adapter)
