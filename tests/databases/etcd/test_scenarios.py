"""What can be done to a cluster, said before anything is touched."""

from pathlib import Path

import pytest
from tests.databases.supports import supports

from brownout.databases.etcd.adapter import SCENARIOS
from brownout.inventory.model import Cluster, Node, ProcessSpec


def cluster(members: int, racks: int = 0, host: bool = True) -> Cluster:
    nodes = tuple(
        Node(
            name=f"n{n}",
            address=f"e{n}:1",
            rack=f"r{n % racks}" if racks else "",
            host=ProcessSpec(pid_file=Path(f"/run/n{n}.pid"), command=("etcd",)) if host else None,
        )
        for n in range(1, members + 1)
    )
    return Cluster(name="c", database="etcd", environment="test", nodes=nodes)


@pytest.mark.parametrize("act", ["node-kill", "wipe", "step_down_primary", "rolling", "resume"])
def test_three_members_can_do_it(act: str) -> None:
    assert supports(act, cluster(3), SCENARIOS.support).ok


@pytest.mark.parametrize(
    ("act", "of", "why"),
    [
        ("add", cluster(3), "etcd has no scenario `add`; it has"),
        ("stepdown", cluster(1), "take over"),
        ("wipe", cluster(2), "without a quorum of the 2 members"),
        ("kill", cluster(3, host=False), "has no `host` in the inventory"),
        ("partition", cluster(3), "network"),
        ("rolling", cluster(2), "the rest is not a quorum; wanted at least 3"),
        ("racks", cluster(3), "has its nodes in 0 racks"),
        ("racks", cluster(4, racks=2), "without rack r1 2 of 4 members stay: not a quorum"),
    ],
)
def test_what_cannot_be_done_says_why(act: str, of: Cluster, why: str) -> None:
    found = supports(act, of, SCENARIOS.support)
    assert not found.ok
    assert why in found.reason


def test_any_of_three_racks_may_go() -> None:
    assert supports("racks", cluster(3, racks=3), SCENARIOS.support).ok
