"""Figures of a replica set that the run in progress has to be asked for as well."""

from typing import Any

from brownout.databases.mongodb import figures, of_mongodb
from brownout.session.current import current

__all__ = ["elections", "replication_lag"]


def elections() -> dict[str, Any]:
    """Return how many elections were held since the run began; see `figures.elections`."""
    session = current()
    began = figures.newest_terms(session.whole_at_start.get("members", {}).values())
    return figures.elections(of_mongodb(session.adapter).members(), began)


def replication_lag(node: str) -> dict[str, Any]:
    """Return by how many seconds `node` lags its primary, or the furthest of all for an empty one.

    Raises `ConfigurationError` for a node that the cluster does not have.
    """
    session = current()
    name = session.node(node).name if node else ""
    return figures.replication_lag(of_mongodb(session.adapter).members(), name)
