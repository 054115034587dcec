"""Figures of a cluster from its nodes' own words. Pure; what a node does not say is never a zero.

Each is `{"value": 0, "status": "measured", "nodes": {"n1": 0, …}}`, or `no_data` with what is
`missing` in words.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brownout.databases.aerospike.view import View

__all__ = [
    "cluster_key",
    "migrations_remaining",
    "partitions_unavailable",
    "records",
    "throughput",
    "tps",
]

Figure = dict[str, Any]


def migrations_remaining(views: Sequence[View]) -> Figure:
    """Return how many partitions still migrate, to and from all nodes.

    A node that is in no cluster has nothing to migrate, which says nothing.
    """
    return _figure(views, lambda view: view.count("migrate_partitions_remaining"), sum)


def cluster_key(views: Sequence[View]) -> Figure:
    """Return the key of the cluster that all nodes are in; none while they disagree."""
    figure = _figure(views, lambda view: view.key, lambda keys: next(iter(keys)))
    if len(set(figure["nodes"].values())) > 1:
        return {**figure, "value": None, "status": "no_data", "missing": ["one key for all nodes"]}
    return figure


def partitions_unavailable(views: Sequence[View]) -> Figure:
    """Return how many partitions are unavailable or dead, by the node that counts most.

    Each node counts those of the whole cluster, as it sees it. Without strong consistency the
    loss of every copy is not counted here: the partition is there again, and empty.
    """
    return _figure(views, lambda view: view.total("unavailable_partitions", "dead_partitions"), max)


def records(views: Sequence[View], namespaces: Sequence[str]) -> Figure:
    """Return how many records there are, each counted once, where it is master.

    While something migrates they are only about so many; `migrating` says so.
    """
    figure = _figure(views, lambda view: view.total("master_objects", of=namespaces), sum)
    moving = any(view.count("migrate_partitions_remaining") for view in views if view.key)
    return {**figure, "migrating": moving}


def tps(view: View) -> Figure:
    """Return how many operations a second a node served in the last slice that it tells.

    It tells nothing before the first slice with an operation in it has ended, usually ten seconds.
    """
    rates = throughput(view.answers.get("latencies:", ""))
    if not rates:
        why = view.error or "it has not served anything for a whole slice yet"
        return {"value": None, "status": "no_data", "missing": [f"{view.node}: {why}"]}
    return {"value": sum(rates.values()), "status": "measured", "operations": rates}


def throughput(answer: str) -> dict[str, float]:
    """Return operations a second by histogram, of `{test}-read:msec,841.6,0.68,…;{test}-udf:;…`.

    A histogram that was never used tells nothing and is left out.
    """
    rates = {}
    for part in answer.split(";"):
        name, _, value = part.rpartition(":")
        fields = value.split(",")
        if name and len(fields) > 1:
            rates[name] = float(fields[1])
    return rates


def _figure(
    views: Sequence[View], of: Callable[[View], Any], sum_up: Callable[[Any], Any]
) -> Figure:
    """Sum up what each node says; all of them have to."""
    values: Mapping[str, Any] = {view.node: of(view) for view in views if view.key}
    missing = [f"{v.node}: {v.error or v.state}" for v in views if not v.key]
    missing += [f"{node}: it does not say" for node, value in values.items() if value is None]
    if missing or not values:
        return {"value": None, "status": "no_data", "nodes": dict(values), "missing": missing}
    return {"value": sum_up(values.values()), "status": "measured", "nodes": dict(values)}
