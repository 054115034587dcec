"""Which adapter a Redis has: what promotes its replicas makes the difference."""

from brownout.databases.redis.adapter import RedisAdapter
from brownout.databases.redis.sentinel.adapter import SentinelAdapter
from brownout.inventory.model import Cluster

__all__ = ["redis_adapter"]


def redis_adapter(cluster: Cluster) -> RedisAdapter | SentinelAdapter:
    """Return the adapter of a Redis Cluster, or of servers that sentinels watch."""
    if cluster.sentinel is not None:
        return SentinelAdapter(cluster, cluster.sentinel)
    return RedisAdapter(cluster)
