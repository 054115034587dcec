"""The Aerospike lab: real processes that the official client takes for a database."""

from pathlib import Path

import aerospike
import pytest
from aerospike import exception
from aerospike_helpers.operations import operations
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import ClusterError, Refused
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.info import ask, pairs
from brownout.databases.milestones import still_unmet
from brownout.infra import lab
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

RECORDS = 400

FRESH = "found all 1 devices fresh"


def connect(cluster: Cluster) -> aerospike.Client:
    hosts = []
    for node in cluster.nodes:
        host, _, port = node.address.rpartition(":")
        hosts.append((host, int(port)))
    return aerospike.client({"hosts": hosts}).connect()


def fill(client: aerospike.Client, value: int) -> None:
    for number in range(RECORDS):
        client.put(("test", "lab", number), {"v": value, "n": number})


def wrong(client: aerospike.Client, value: int) -> int:
    """Return how many records are not as they were written."""
    keys = [("test", "lab", number) for number in range(RECORDS)]
    found = client.batch_read(keys).batch_records
    expected = [{"v": value, "n": number} for number in range(RECORDS)]
    return sum(one.record[2] != want for one, want in zip(found, expected, strict=True))


def told(node: Node, command: str) -> str:
    return ask(node.address, [command], 2.0)[command]


def number(node: Node, name: str) -> str:
    return pairs(told(node, "namespace/test"))[name]


def test_the_inventory_says_that_it_is_the_stand_in(cluster: Cluster) -> None:
    assert cluster.lab is not None
    assert cluster.lab.stand_in
    assert len(cluster.nodes) == 5


def test_every_answer_about_itself_says_what_it_is(adapter: AerospikeAdapter) -> None:
    node = adapter.targets("n1", 1)[0]

    assert adapter.engine().startswith("brownout stand-in 8.1")
    assert "stand-in" in told(node, "edition")
    assert "Aerospike" not in told(node, "edition") + told(node, "version") + told(node, "release")


def test_the_official_client_writes_reads_and_counts(cluster: Cluster) -> None:
    client = connect(cluster)
    try:
        key = ("test", "lab", "official")
        client.put(key, {"n": 1, "text": "x", "part": 0.5})
        steps = [operations.increment("n", 4), operations.read("n")]
        _, meta, bins = client.operate(key, steps)
        with pytest.raises(exception.RecordExistsError):
            client.put(key, {"n": 9}, policy={"exists": aerospike.POLICY_EXISTS_CREATE})
        client.remove(key)

        assert (bins["n"], meta["gen"]) == (5, 2)
        with pytest.raises(exception.RecordNotFound):
            client.get(key)
    finally:
        client.close()


def test_a_login_is_refused_as_by_the_community_edition(cluster: Cluster) -> None:
    host, _, port = cluster.nodes[0].address.rpartition(":")

    with pytest.raises(exception.AerospikeError):
        aerospike.client({"hosts": [(host, int(port))], "user": "u", "password": "p"}).connect()


def test_a_killed_node_is_healthy_for_a_while_and_comes_back_empty_after_a_wipe(
    cluster: Cluster, adapter: AerospikeAdapter
) -> None:
    client = connect(cluster)
    node = cluster.node("n3")
    host = host_for(node)
    fresh_starts = logged(node).count(FRESH)
    try:
        fill(client, 1)
        before = adapter.signature()
        host.stop("kill")
        assert told(cluster.nodes[0], "cluster-stable:size=5") == before, "health lies at first"
        await_true(lambda: adapter.signature() not in (before, ""), "a new key")
        host.wipe(adapter.data_directories(node))
        host.start()
        await_true(lambda: adapter.stable("redundant").reached, "redundancy")

        assert wrong(client, 1) == 0
        assert logged(node).count(FRESH) == fresh_starts + 1
    finally:
        client.close()


def test_a_configuration_that_the_living_node_contradicts_is_not_wiped(
    cluster: Cluster, adapter: AerospikeAdapter
) -> None:
    node = cluster.node("n2")
    (data,) = adapter.data_directories(node)
    assert node.host is not None
    assert node.host.config_file is not None
    text = node.host.config_file.read_text()
    node.host.config_file.write_text(text.replace(f"file {data}/", f"file {data}-old/"))
    try:
        with pytest.raises(Refused, match=naming("n2", f"`{data}-old`", f"`{data}`")):
            adapter.data_directories(node)
        node.host.config_file.unlink()  # then the living node alone says it
        assert adapter.data_directories(node) == [data]
        host_for(node).stop("clean")
        assert adapter.data_directories(node) == [data]
    finally:
        node.host.config_file.write_text(text)
        host_for(node).start()
    await_true(lambda: adapter.stable("redundant").reached, "redundancy")


def logged(node: Node) -> str:
    """Return what the node's server has logged since the lab is up."""
    return Path(node.host.log_file).read_text(encoding="utf-8")  # type: ignore[union-attr]


def test_a_quiesced_node_serves_nobody_and_its_stop_is_not_felt(
    cluster: Cluster, adapter: AerospikeAdapter
) -> None:
    client = connect(cluster)
    node = cluster.node("n2")
    host = host_for(node)
    try:
        fill(client, 2)
        proof = adapter.drain(node)
        await_true(lambda: adapter.stable("redundant").reached, "nothing left to migrate")
        assert number(node, "master_objects") == "0"
        await_true(lambda: served(client, node) == 0, "clients gone elsewhere")
        host.stop("clean")
        fill(client, 3)  # any error would end the test
        host.start()
        await_true(lambda: adapter.stable("whole").reached, "a whole cluster")

        assert proof.evidence["quiesced"]
        assert wrong(client, 3) == 0
    finally:
        client.close()


def served(client: aerospike.Client, node: Node) -> int:
    """Return how many of a set's reads the node answered."""
    before = reads(node)
    for number_ in range(100):
        client.get(("test", "lab", number_))
    return reads(node) - before


def reads(node: Node) -> int:
    return int(number(node, "client_read_success")) + int(number(node, "client_proxy_complete"))


def test_quiesce_can_be_undone(cluster: Cluster, adapter: AerospikeAdapter) -> None:
    node = cluster.node("n4")
    adapter.drain(node)

    proof = adapter.undrain(node)

    assert not proof.evidence["quiesced"]
    assert number(node, "effective_is_quiesced") == "false"


@pytest.mark.matrix
def test_what_was_left_changed_is_as_made_when_the_lab_is_up(
    cluster: Cluster, adapter: AerospikeAdapter
) -> None:
    spare = cluster.node("n6")
    host_for(spare).start()
    adapter.join(spare)
    adapter.expect(cluster.every)
    adapter.adjust("replication_factor", 3, None)
    adapter.adjust("migration_speed", {"migrate_threads": 5}, cluster.node("n2"))

    lab.up(cluster.name)

    adapter.expect(cluster.nodes)
    assert not host_for(spare).running().running
    assert list(host_for(spare).entries(adapter.data_directories(spare)[0])) == []
    assert adapter.setting("replication_factor", None) == 2
    assert adapter.setting("migration_speed", cluster.node("n2"))["migrate_threads"] == 1
    assert still_unmet(adapter, "whole") == []


def test_the_adapter_knows_the_nodes_by_their_roles(adapter: AerospikeAdapter) -> None:
    members = adapter.members()

    assert [m.role for m in members] == ["secondary"] * 4 + ["primary"]
    assert all(m.healthy and m.state == "in cluster" for m in members)
    assert adapter.targets("primary", 1)[0].name == "n5"
    assert adapter.targets("random", 7) == adapter.targets("random", 7)
    assert not adapter.supports("wipe").known  # the hosts decide
    assert adapter.supports("drain").ok
    assert not adapter.supports("stepdown").ok


def test_a_node_that_does_not_answer_is_named(cluster: Cluster) -> None:
    gone = Node(name="n9", address="127.0.0.1:1")
    with AerospikeAdapter(cluster.model_copy(update={"nodes": (gone,)})) as adapter:
        assert adapter.members()[0].state == "silent"
        with pytest.raises(ClusterError, match=r"n9: .* does not answer"):
            adapter.ready()
