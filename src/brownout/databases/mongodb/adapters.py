"""Which adapter a cluster of MongoDB has."""

from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.sharded_cluster import ShardedAdapter
from brownout.inventory.model import Cluster

__all__ = ["mongodb_adapter"]


def mongodb_adapter(cluster: Cluster) -> MongoAdapter | ShardedAdapter:
    """Return the adapter of a replica set, or of a sharded cluster where the nodes name shards."""
    return ShardedAdapter(cluster) if cluster.nodes[0].shard else MongoAdapter(cluster)
