"""What can be done to a cluster, said before anything is touched."""

from pathlib import Path

import pytest
from tests.databases.supports import supports

from brownout.databases.redis.adapter import SCENARIOS
from brownout.inventory.model import Cluster, Node, ProcessSpec


def cluster(members: int, host: bool = True) -> Cluster:
    nodes = tuple(
        Node(
            name=f"n{n}",
            address=f"r{n}:1",
            host=ProcessSpec(pid_file=Path(f"/run/n{n}.pid"), command=("r",)) if host else None,
        )
        for n in range(1, members + 1)
    )
    return Cluster(name="c", database="redis", environment="test", nodes=nodes)


@pytest.mark.parametrize("act", ["node-kill", "wipe", "step_down_primary", "rolling", "resume"])
def test_six_nodes_can_do_it(act: str) -> None:
    assert supports(act, cluster(6), SCENARIOS.support).ok


@pytest.mark.parametrize(
    ("act", "of", "why"),
    [
        ("add", cluster(6), "Redis Cluster has no scenario `add`; it has"),
        ("stepdown", cluster(1), "take over"),
        ("wipe", cluster(1), "take over"),
        ("kill", cluster(6, host=False), "has no `host` in the inventory"),
        ("partition", cluster(6), "network"),
        ("rolling", cluster(2), "wanted at least 3"),
        ("racks", cluster(6), "0 racks"),
    ],
)
def test_what_cannot_be_done_says_why(act: str, of: Cluster, why: str) -> None:
    found = supports(act, of, SCENARIOS.support)
    assert not found.ok
    assert why in found.reason
