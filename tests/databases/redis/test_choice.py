"""Choosing targets: by name, by role in Redis's words and in everybody's, of one shard."""

import pytest

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.redis.choice import check, choose
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node

MEMBERS = [
    Member("s1n1", "r1:1", "secondary", "REPLICA", True),
    Member("s1n2", "r2:1", "primary", "MASTER", True),
    Member("s2n1", "r3:1", "primary", "MASTER", True),
    Member("s2n2", "r4:1", "other", "SYNCING", False),
]
SHARDS = {member.node: member.node[:2] for member in MEMBERS}
RACKS = {"s1n1": "a", "s1n2": "b", "s2n1": "a", "s2n2": "b"}


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        ("s2n2", ["s2n2"]),
        ("replica", ["s1n1"]),
        ("secondary", ["s1n1"]),
        ("role=master", ["s1n2", "s2n1"]),
        ("role=primary", ["s1n2", "s2n1"]),
        ("master@s1", ["s1n2"]),
        ("role=master@s2", ["s2n1"]),
        ("rack=a", ["s1n1", "s2n1"]),
    ],
)
def test_a_name_a_role_and_a_shard_mean_what_they_say(select: str, wanted: list[str]) -> None:
    assert choose(select, MEMBERS, 1, RACKS, SHARDS) == wanted


def test_a_seed_decides_among_the_masters() -> None:
    chosen = [tuple(choose("master", MEMBERS, seed, RACKS, SHARDS)) for seed in range(40)]
    assert chosen == [tuple(choose("primary", MEMBERS, seed, RACKS, SHARDS)) for seed in range(40)]
    assert {name for (name,) in chosen} == {"s1n2", "s2n1"}


def test_without_a_replica_none_is_chosen() -> None:
    with pytest.raises(ClusterError, match="no member is secondary now: s2n1 is MASTER, s2n2 is"):
        choose("replica@s2", MEMBERS, 1, {}, SHARDS)


def test_what_could_be_no_node_is_refused_before_anybody_is_asked() -> None:
    nodes = tuple(Node(name=m.node, address=m.address, shard=SHARDS[m.node]) for m in MEMBERS)
    connection = Connection(hosts=("r1:1",))
    cluster = Cluster(
        name="c", database="redis", environment="test", nodes=nodes, connection=connection
    )
    check("replica@s2", cluster)
    with pytest.raises(ConfigurationError, match=r"wanted one of the shards s1, s2"):
        check("master@s3", cluster)
    with pytest.raises(ConfigurationError, match=r"found 'leader', wanted a node \(s1n1, s1n2"):
        check("leader", cluster)
