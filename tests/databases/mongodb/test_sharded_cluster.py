"""The adapter of a sharded cluster: two real replica sets behind our stand-in for a router."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.waiting import await_true, await_whole
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import (
    Electing,
    FailureDetection,
    Quiescing,
    SteppingDown,
    adapter_for,
)
from brownout.databases.milestones import still_unmet
from brownout.databases.mongodb import figures, shards
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.lab import router_stand_in
from brownout.databases.mongodb.sharded_cluster import ShardedAdapter
from brownout.databases.resize import Adjustable, Resizing
from brownout.infra import lab
from brownout.inventory import inventory, labs
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

NAME = "two-shards"
MINE = (
    "database: mongodb\nenvironment: lab\nallow_data_loss: true\n"
    "lab: {engine: sharded, shards: 2, members: 1, election_timeout_ms: 500}\n"
)
NODES: dict[str, Any] = {
    "database": "mongodb",
    "environment": "test",
    "nodes": [
        {"name": "a", "address": "10.0.0.1:27018", "shard": "s1"},
        {"name": "b", "address": "10.0.0.2:27018", "shard": "s2"},
    ],
    "connection": {"hosts": ["10.0.0.9:27017"]},
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two shards of one member each; a test leaves them whole."""
    home = tmp_path_factory.mktemp("sharded")
    (home / f"{NAME}.yaml").write_text(MINE)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_CLUSTERS", str(home))
        environment.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
        try:
            yield lab.up(NAME)
        finally:
            lab.down(NAME)
            assert list((home / "lab").iterdir()) == []


@pytest.fixture
def adapter(cluster: Cluster) -> Iterator[ShardedAdapter]:
    found = adapter_for(cluster)
    assert isinstance(found, ShardedAdapter)
    with found:
        yield found


def test_it_is_whole_has_a_primary_in_every_shard_and_says_what_stands_before_them(
    adapter: ShardedAdapter, cluster: Cluster
) -> None:
    adapter.ready()
    state = adapter.stable("whole")
    assert state.reached
    assert state.detail["primaries"] == {"s1": "s1n1", "s2": "s2n1"}
    assert sorted(state.detail["members"]) == ["s1n1", "s2n1"]
    assert adapter.engine().endswith(" in 2 shards, behind a stand-in for mongos")
    assert adapter.load_spec()["connection"]["uri"] == f"mongodb://{cluster.connection.hosts[0]}/"
    assert figures.primaries(adapter.members())["value"] == 2
    began = figures.newest_terms(state.detail["members"].values())
    assert sorted(began) == [f"{NAME}-s1", f"{NAME}-s2"]
    assert figures.elections(adapter.members(), began)["value"] == 0


def test_each_shard_has_a_primary_of_its_own_by_its_members_account(
    cluster: Cluster, adapter: ShardedAdapter
) -> None:
    assert isinstance(adapter, Electing)
    asked = adapter.candidates()
    try:
        said = {(each.node, each.shard): each.claim().primary for each in asked}
    finally:
        for each in asked:
            each.close()
    assert said == {(node.name, node.shard): True for node in cluster.nodes}
    assert len({shard for _, shard in said}) == 2
    assert adapter.failure_detection() == FailureDetection("settings.electionTimeoutMillis", 0.5)


def test_a_target_is_found_in_all_shards_or_in_the_one_that_it_names(
    adapter: ShardedAdapter, cluster: Cluster
) -> None:
    first, second = cluster.nodes
    assert adapter.targets("primary@s1", 1) == [first]
    assert adapter.targets("primary@s2", 1) == [second]
    assert adapter.targets("role=primary", 1) == [first, second]
    assert adapter.targets("s2n1", 1) == [second]
    assert adapter.targets("primary", 7) == adapter.targets("primary", 7)
    with pytest.raises(ConfigurationError, match=naming("'primary@s9'", "s1, s2")):
        adapter.targets("primary@s9", 1)


def test_what_is_lost_in_one_shard_is_missing_there_and_named(
    adapter: ShardedAdapter, cluster: Cluster
) -> None:
    await_true(lambda: "unreachable" not in adapter.signature(), "both shards answer in time")
    before = adapter.signature()
    host = host_for(cluster.nodes[1])
    host.stop("kill")
    try:
        state = adapter.stable("rejoined")
        assert not state.reached
        assert all(words.startswith("shard s2: ") for words in state.detail["missing"])
        assert adapter.signature() != before
        assert adapter.evidence(cluster.nodes[1])["shard"] == "s2"
    finally:
        host.start()
    await_whole(adapter)


def test_what_moves_members_of_one_set_is_unsupported_and_faults_of_nodes_are_not(
    adapter: ShardedAdapter,
) -> None:
    for scenario in ("kill", "pause", "stop"):
        assert not adapter.supports(scenario).known  # the hosts decide
    assert "is not done to a sharded cluster" in adapter.supports("add").reason
    assert "has one member" in adapter.supports("stepdown").reason
    assert "behind routers no driver sees the members" in adapter.supports("pause_cluster").reason
    assert isinstance(adapter, SteppingDown)
    for more in (Resizing, Adjustable, Quiescing):
        assert not isinstance(adapter, more)


def test_a_nodes_directory_is_its_own_in_every_shard(
    adapter: ShardedAdapter, cluster: Cluster
) -> None:
    found = [adapter.data_directories(node)[0] for node in cluster.nodes]
    home = Path(os.environ["BROWNOUT_LAB_DIR"]) / NAME
    assert found == [home / "s1" / "n1" / "data", home / "s2" / "n1" / "data"]


def test_a_router_that_is_gone_is_missing_and_lab_up_starts_it_again(
    adapter: ShardedAdapter, cluster: Cluster
) -> None:
    router_stand_in.stop(labs.directory(NAME))
    assert adapter.stable("redundant").reached
    assert "no router answers" in adapter.stable("whole").detail["missing"][0]
    with pytest.raises(ClusterError, match="no router answers"):
        adapter.ready()
    assert lab.up(NAME) == cluster
    assert still_unmet(adapter, "whole") == []


def test_a_member_that_is_no_router_is_not_taken_for_one(cluster: Cluster) -> None:
    connection = cluster.connection.model_copy(update={"hosts": (cluster.nodes[0].address,)})
    with (
        ShardedAdapter(cluster.model_copy(update={"connection": connection})) as adapter,
        pytest.raises(ClusterError, match=r"is not a router \(mongos\), but the inventory's nodes"),
    ):
        adapter.ready()


def test_routers_and_inventory_that_are_not_of_one_mind_are_told_apart() -> None:
    cluster = inventory.parse(NODES, Path("/x/orders.yaml"))
    agreed = [
        {"_id": "s1", "host": "rs/10.0.0.1:27018"},
        {"_id": "s2", "host": "rs/10.0.0.2:27018"},
    ]
    assert shards.disagreements(cluster, agreed) == []
    assert shards.disagreements(cluster, [agreed[0], {"_id": "s3", "host": "rs/x:1"}]) == [
        "the routers know no shard s2",
        "shard s3 is not in the inventory",
    ]
    other = [agreed[0], {"_id": "s2", "host": "rs/10.0.0.2:27018,10.0.0.7:27018"}]
    assert shards.disagreements(cluster, other) == [
        "10.0.0.7:27018 is of shard s2, but not in the inventory"
    ]


def reached_by(uri: str) -> Cluster:
    cluster = inventory.parse(NODES, Path("/x/orders.yaml"))
    connection = cluster.connection.model_copy(update={"hosts": (), "uri": SecretStr(uri)})
    return cluster.model_copy(update={"connection": connection})


def test_a_shard_is_reached_with_the_login_and_the_options_of_the_routers_uri() -> None:
    uri = "mongodb://chaos:p%40w@r1:27017,r2/orders?tls=true&compressors=zlib"
    way = access(shards.shard_of(reached_by(uri), "s1"))
    assert way.pymongo() == {"username": "chaos", "password": "p@w"}
    options = "tls=true&compressors=zlib&authSource=orders"
    assert way.uri == f"mongodb://10.0.0.1:27018/orders?{options}"
    assert way.direct_uri("10.0.0.1:27018") == (
        f"mongodb://10.0.0.1:27018/?{options}&directConnection=true"
    )


def test_a_router_without_a_port_has_the_usual_one() -> None:
    named = shards.routers(reached_by("mongodb://chaos:pw@r1,[::1],r3:27020,[::1]:27021/"))
    assert [router.address for router in named] == [
        *("r1:27017", "[::1]:27017", "r3:27020", "[::1]:27021")
    ]


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("mongodb+srv://chaos:s3cret@orders.example.com/", "connection.hosts"),
        ("mongodb://chaos:s3cret/x@r1/", "percent-encode"),
        ("mongodb:///", "host:port"),
    ],
)
def test_a_uri_that_does_not_name_the_routers_is_refused_in_words(uri: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=naming("connection.uri", words)) as refused:
        adapter_for(reached_by(uri))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"connection": {}}, "wanted the routers in connection.hosts"),
        ({"connection": {"hosts": ["r:1"], "replica_set": "rs"}}, "wanted neither"),
        ({"nodes": [*NODES["nodes"], {"name": "c", "address": "x:1"}]}, "c names no shard"),
    ],
)
def test_an_inventory_of_a_sharded_cluster_is_whole_or_refused(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        inventory.parse({**NODES, **change}, Path("/x/orders.yaml"))
    assert words in str(refused.value)
