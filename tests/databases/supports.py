"""What a cluster supports by its database and its hosts together, as a run asks it."""

from collections.abc import Callable
from typing import Any, cast

from brownout.databases.adapter import Adapter, Support
from brownout.faults import registry
from brownout.inventory.model import Cluster, Node

__all__ = ["supports"]


class _Answering:
    """An adapter as far as it is asked what its cluster supports."""

    def __init__(self, cluster: Cluster, support: Callable[[str, Cluster], Support]) -> None:
        self._cluster, self._support = cluster, support

    def supports(self, scenario: str) -> Support:
        return self._support(scenario, self._cluster)


class _Supervised(_Answering):
    def objections_to_orphan(self, node: Node, of_a_replica: bool) -> list[str]:
        return []


def supports(
    scenario: str, cluster: Cluster, support: Callable[[str, Cluster], Support]
) -> Support:
    """Return what `brownout plan` would say of `scenario`; `support` is the database's own word."""
    kind: Any = _Supervised if cluster.database == "postgresql" else _Answering
    answer = registry.supports(scenario, cluster, cast(Adapter, kind(cluster, support)))
    assert answer is not None
    return answer
