"""Probes that only MongoDB answers ask here. No driver is imported, so they are always listed."""

from brownout.base.errors import Unsupported
from brownout.databases.adapter import Adapter, Member
from brownout.inventory.model import Cluster

__all__ = ["members_of"]


def members_of(cluster: Cluster, adapter: Adapter) -> list[Member]:
    """Return the members of a replica set or of all shards; `Unsupported` on other databases."""
    if cluster.database != "mongodb":
        raise Unsupported(f"this needs a MongoDB cluster, and this is {adapter.engine()}")
    return adapter.members()
