"""Choosing targets: by name, by role in several words, at random with a seed."""

import pytest

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.postgresql.choice import check, choose
from brownout.inventory.model import Cluster, Node

MEMBERS = [
    Member("n1", "e1:1", "secondary", "REPLICA", True),
    Member("n2", "e2:1", "primary", "PRIMARY", True),
    Member("n3", "e3:1", "secondary", "REPLICA", True),
]
RACKS = {"n1": "r1", "n2": "r2", "n3": "r1"}


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        ("n3", ["n3"]),
        ("primary", ["n2"]),
        ("leader", ["n2"]),
        ("role=primary", ["n2"]),
        ("role=replica", ["n1", "n3"]),
        ("role=standby", ["n1", "n3"]),
        ("rack=r1", ["n1", "n3"]),
    ],
)
def test_a_name_and_a_role_mean_what_they_say(select: str, wanted: list[str]) -> None:
    assert choose(select, MEMBERS, 1, RACKS) == wanted


@pytest.mark.parametrize(
    ("select", "among"), [("replica", {"n1", "n3"}), ("random", {"n1", "n2", "n3"})]
)
def test_a_seed_decides_among_the_members_that_serve(select: str, among: set[str]) -> None:
    chosen = [tuple(choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]
    assert chosen == [tuple(choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]
    assert {name for (name,) in chosen} == among


def test_without_a_primary_none_is_chosen() -> None:
    with pytest.raises(ClusterError, match="no member is primary now: n1 is REPLICA"):
        choose("primary", MEMBERS[:1], 1, {})


def test_what_could_be_no_node_is_refused_before_anybody_is_asked() -> None:
    nodes = tuple(Node(name=f"n{n}", address=f"e{n}:1") for n in (1, 2, 3))
    cluster = Cluster(name="c", database="postgresql", environment="test", nodes=nodes)
    check("replica", cluster)
    with pytest.raises(ConfigurationError, match=r"found 'arbiter', wanted a node \(n1, n2, n3\)"):
        check("arbiter", cluster)
