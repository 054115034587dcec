"""Which adapter a cluster has: what promotes its members makes the difference."""

from typing import Any

from brownout.databases.postgresql.adapter import PostgresqlAdapter, PostgresqlMembers
from brownout.databases.postgresql.streaming import StreamingAdapter
from brownout.inventory.database import later
from brownout.inventory.model import Cluster, Node

__all__ = ["postgresql_adapter"]

# It needs the client of Kubernetes, which is an extra.
_in_pods = later("brownout.databases.postgresql.instances:InstancesAdapter")


def postgresql_adapter(cluster: Cluster) -> PostgresqlMembers[Any]:
    """Return the adapter of members under Patroni, of an operator's pods, or of neither."""
    if cluster.streaming is not None:
        return StreamingAdapter(cluster)
    if cluster.nodes and all(map(_without_patroni, cluster.nodes)):
        adapter: PostgresqlMembers[Any] = _in_pods(cluster)
        return adapter
    return PostgresqlAdapter(cluster)


def _without_patroni(node: Node) -> bool:
    """Whether a node is a pod in which PostgreSQL itself is the node's program."""
    host = node.host
    return host is not None and host.kind == "kubernetes" and _program(host) == "postgres"


def _program(host: object) -> str:
    return str(getattr(host, "program", ""))
