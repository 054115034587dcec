"""What can be done to a cluster of Cassandra, and whom a target means."""

from pathlib import Path

import pytest
from tests.databases.supports import supports

from brownout.base.errors import ConfigurationError
from brownout.databases.cassandra.adapter import SCENARIOS
from brownout.databases.cassandra.choice import check
from brownout.inventory.model import Cluster, Node, ProcessSpec


def cluster(count: int, with_hosts: bool = True) -> Cluster:
    def node(n: int) -> Node:
        host = ProcessSpec(pid_file=Path(f"/run/n{n}"), command=("java",)) if with_hosts else None
        return Node(name=f"n{n}", address=f"127.0.0.{n}:9042", host=host, rack=f"r{n}")

    nodes = tuple(node(n) for n in range(1, count + 1))
    return Cluster(name="c", database="cassandra", environment="test", nodes=nodes)


@pytest.mark.parametrize("scenario", ["node-kill", "node-pause", "node-wipe", "rolling"])
def test_three_nodes_are_killed_paused_wiped_and_restarted(scenario: str) -> None:
    assert supports(scenario, cluster(3), SCENARIOS.support).ok


@pytest.mark.parametrize(
    ("scenario", "of", "why"),
    [
        ("stepdown", cluster(3), "Cassandra has no leader, so no node can step down"),
        ("quiesce_node", cluster(3), "Cassandra has no scenario `quiesce`; it has"),
        ("node-wipe", cluster(1), "take over"),
        ("rolling", cluster(2), "wanted at least 3"),
        ("node-kill", cluster(3, with_hosts=False), "has no `host` in the inventory"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    scenario: str, of: Cluster, why: str
) -> None:
    found = supports(scenario, of, SCENARIOS.support)
    assert not found.ok
    assert why in found.reason


def test_every_node_is_a_primary_and_none_a_secondary() -> None:
    for select in ("primary", "random", "n2", "rack=r1", "role=primary"):
        check(select, cluster(3))
    for select in ("secondary", "role=secondary"):
        with pytest.raises(ConfigurationError, match="none is a secondary"):
            check(select, cluster(3))
    with pytest.raises(ConfigurationError, match="wanted a node"):
        check("n9", cluster(3))
