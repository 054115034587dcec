"""Which adapter a cluster of MongoDB has."""

from brownout.base.errors import Unsupported
from brownout.databases.adapter import Adapter
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.sharded import ShardedAdapter
from brownout.inventory.model import Cluster

__all__ = ["mongodb_adapter", "of_mongodb"]


def mongodb_adapter(cluster: Cluster) -> MongoAdapter | ShardedAdapter:
    """Return the adapter of a replica set, or of a sharded cluster where the nodes name shards."""
    return ShardedAdapter(cluster) if cluster.nodes[0].shard else MongoAdapter(cluster)


def of_mongodb(adapter: Adapter) -> MongoAdapter | ShardedAdapter:
    """Return the adapter, if it is one of MongoDB; `Unsupported` otherwise."""
    if isinstance(adapter, MongoAdapter | ShardedAdapter):
        return adapter
    raise Unsupported(f"this asks a MongoDB cluster, and {adapter.engine()} is none")
