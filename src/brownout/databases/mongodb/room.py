"""How much room a replica set's members have left: their disks, and the time their oplogs cover."""

from typing import Any

from brownout.base.errors import ClusterError
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.link import Link
from brownout.inventory.model import Cluster, Node

__all__ = ["free_disk", "oplog_s"]


def free_disk(cluster: Cluster) -> dict[str, float | None]:
    """Return which share of its volume each member has free; None where it does not say."""
    return {node.name: _free(_asked(cluster, node, "dbStats")) for node in cluster.nodes}


def oplog_s(cluster: Cluster, node: Node) -> float | None:
    """Return how long the oplog of `node` will cover once it is full, at its rate until now."""
    stats = _asked(cluster, node, "collStats", "oplog.rs")
    ends = [
        _asked(cluster, node, "find", "oplog.rs", sort={"$natural": way}, limit=1)
        for way in (1, -1)
    ]
    try:
        first, last = (end["cursor"]["firstBatch"][0]["ts"].time for end in ends)
        return float((last - first) * max(1.0, stats["maxSize"] / stats["size"]))
    except (KeyError, IndexError, ZeroDivisionError):
        return None


def _asked(
    cluster: Cluster, node: Node, command: str, value: Any = 1, **arguments: Any
) -> dict[str, Any]:
    link = Link(node, access(cluster), cluster.connection.timeout_s)
    try:
        return link.ask(command, value, database="local", **arguments)
    except ClusterError:
        return {}
    finally:
        link.close()


def _free(stats: dict[str, Any]) -> float | None:
    try:
        return 1.0 - float(stats["fsUsedSize"]) / float(stats["fsTotalSize"])
    except (KeyError, ZeroDivisionError):
        return None
