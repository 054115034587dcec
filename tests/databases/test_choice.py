"""Choosing targets: by name, by role in each database's words, by rack, of one shard, by a seed."""

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.choice import Targets
from brownout.databases.etcd.choice import TARGETS as ETCD
from brownout.databases.mongodb.choice import TARGETS as MONGODB
from brownout.databases.postgresql.choice import TARGETS as POSTGRESQL
from brownout.databases.redis.choice import TARGETS as REDIS
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node

MEMBERS = [
    Member("n1", "db1:1", "secondary", "SECONDARY", True),
    Member("n2", "db2:1", "primary", "PRIMARY", True),
    Member("n3", "db3:1", "secondary", "SECONDARY", True),
    Member("n4", "db4:1", "other", "STARTUP2", False),
]
RACKS = {"n1": "r1", "n2": "r2", "n3": "r1", "n4": "r2"}

OF_TWO_SHARDS = [
    Member("s1n1", "r1:1", "secondary", "REPLICA", True),
    Member("s1n2", "r2:1", "primary", "MASTER", True),
    Member("s2n1", "r3:1", "primary", "MASTER", True),
    Member("s2n2", "r4:1", "other", "SYNCING", False),
]
SHARDS = {member.node: member.node[:2] for member in OF_TWO_SHARDS}
SHARD_RACKS = {"s1n1": "a", "s1n2": "b", "s2n1": "a", "s2n2": "b"}


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        ("n4", ["n4"]),
        ("primary", ["n2"]),
        ("role=primary", ["n2"]),
        ("role=secondary", ["n1", "n3"]),
        ("rack=r1", ["n1", "n3"]),
        ("rack=r2", ["n2"]),
    ],
)
@pytest.mark.parametrize("targets", [MONGODB, ETCD, POSTGRESQL, REDIS])
def test_a_name_a_role_and_a_rack_mean_the_same_on_every_database(
    targets: Targets, select: str, wanted: list[str]
) -> None:
    assert targets.choose(select, MEMBERS, 1, RACKS) == wanted


@pytest.mark.parametrize(
    ("targets", "word", "role"),
    [
        (ETCD, "leader", "primary"),
        (ETCD, "follower", "secondary"),
        (POSTGRESQL, "leader", "primary"),
        (POSTGRESQL, "replica", "secondary"),
        (POSTGRESQL, "standby", "secondary"),
        (REDIS, "master", "primary"),
        (REDIS, "replica", "secondary"),
    ],
)
def test_a_database_s_own_word_is_as_good_as_the_general_one(
    targets: Targets, word: str, role: str
) -> None:
    for own, general in ((word, role), (f"role={word}", f"role={role}")):
        of_own = [targets.choose(own, MEMBERS, seed, RACKS) for seed in range(10)]
        assert of_own == [targets.choose(general, MEMBERS, seed, RACKS) for seed in range(10)]


@pytest.mark.parametrize(
    ("select", "among"), [("secondary", {"n1", "n3"}), ("random", {"n1", "n2", "n3"})]
)
def test_a_seed_decides_among_the_members_that_serve(select: str, among: set[str]) -> None:
    chosen = [tuple(MONGODB.choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]

    assert chosen == [tuple(MONGODB.choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]
    assert {name for (name,) in chosen} == among


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        ("s2n2", ["s2n2"]),
        ("replica", ["s1n1"]),
        ("role=master", ["s1n2", "s2n1"]),
        ("master@s1", ["s1n2"]),
        ("primary@s2", ["s2n1"]),
        ("role=master@s2", ["s2n1"]),
        ("rack=a", ["s1n1", "s2n1"]),
        ("rack=a@s2", ["s2n1"]),
    ],
)
def test_a_target_may_name_a_shard(select: str, wanted: list[str]) -> None:
    assert REDIS.choose(select, OF_TWO_SHARDS, 1, SHARD_RACKS, SHARDS) == wanted


def test_a_seed_decides_among_the_primaries_of_all_shards() -> None:
    chosen = {
        tuple(REDIS.choose("master", OF_TWO_SHARDS, seed, SHARD_RACKS, SHARDS))
        for seed in range(40)
    }
    assert chosen == {("s1n2",), ("s2n1",)}


@pytest.mark.parametrize(
    ("targets", "select", "words"),
    [
        (MONGODB, "master", "primary, secondary, random, role=primary or role=secondary"),
        (ETCD, "arbiter", "leader, follower, random, role=leader or role=follower"),
        (POSTGRESQL, "master", "primary, replica, random, role=primary or role=replica"),
        (REDIS, "leader", "master, replica, random, role=master or role=replica"),
    ],
)
def test_an_unknown_target_names_the_choices_in_the_database_s_words(
    targets: Targets, select: str, words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        targets.choose(select, MEMBERS, 1, RACKS)

    assert str(caught.value) == (
        f"target: found '{select}', wanted a node (n1, n2, n3, n4), {words}, "
        "rack or rack= one of r1, r2"
    )


@pytest.mark.parametrize("select", ["primary", "role=primary", "primary@s"])
def test_a_role_that_nobody_has_now_says_what_they_are(select: str) -> None:
    with pytest.raises(ClusterError, match=naming("primary", "n1", "SECONDARY")):
        MONGODB.choose(select, MEMBERS[:1], 1, {}, {"n1": "s"})


def test_a_rack_is_drawn_by_the_seed_and_then_it_is_everybody_in_it_who_serves() -> None:
    chosen = {tuple(MONGODB.choose("rack", MEMBERS, seed, RACKS)) for seed in range(40)}

    assert chosen == {("n1", "n3"), ("n2",)}


@pytest.mark.parametrize("select", ["rack", "rack=r1", "rack=r9"])
def test_a_rack_that_no_inventory_names_is_no_target(select: str) -> None:
    with pytest.raises(ConfigurationError, match=f"target: found '{select}', wanted a node"):
        MONGODB.choose(select, MEMBERS, 1, {} if select != "rack=r9" else RACKS)


def test_a_rack_where_nobody_serves_now_says_what_they_are() -> None:
    with pytest.raises(ClusterError, match="no member in rack r2 serves now: n4 is STARTUP2"):
        MONGODB.choose("rack=r2", MEMBERS[3:], 1, RACKS)


def test_what_could_be_no_node_is_refused_before_anybody_is_asked() -> None:
    nodes = tuple(Node(name=m.node, address=m.address, shard=m.node[:2]) for m in OF_TWO_SHARDS)
    connection = Connection(hosts=("r1:1",))
    cluster = Cluster(
        name="c", database="redis", environment="test", nodes=nodes, connection=connection
    )
    REDIS.check("replica@s2", cluster)
    with pytest.raises(ConfigurationError, match=r"wanted one of the shards s1, s2"):
        REDIS.check("master@s3", cluster)
    with pytest.raises(ConfigurationError, match=r"found 'leader', wanted a node \(s1n1, s1n2"):
        REDIS.check("leader", cluster)


def test_a_shard_is_refused_where_there_are_none() -> None:
    nodes = tuple(Node(name=f"n{n}", address=f"e{n}:1") for n in (1, 2, 3))
    cluster = Cluster(name="c", database="etcd", environment="test", nodes=nodes)
    ETCD.check("follower", cluster)
    with pytest.raises(ConfigurationError, match="found 'leader@s1', wanted no `@`: it has no sh"):
        ETCD.check("leader@s1", cluster)
