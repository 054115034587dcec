"""Labs of Cassandra: real nodes that lose one of them, and its data."""

from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.base.errors import ClusterError
from brownout.databases.adapter import adapter_for
from brownout.databases.cassandra.adapter import CassandraAdapter
from brownout.databases.starting import start
from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(2400)]

_BACK_S = 900


def test_a_lab_is_whole_and_says_what_it_is(lab_cassandra: Cluster) -> None:
    with CassandraAdapter(lab_cassandra) as adapter:
        adapter.ready()
        assert adapter.engine() == "Cassandra 5.0.5"
        assert [member.state for member in adapter.members()] == ["NORMAL"] * 3
        assert len(adapter.targets("role=primary", 1)) == 3
        assert adapter.would_lose(lab_cassandra.nodes[:1]) == []


def test_a_wiped_node_replaces_itself(lab_cassandra: Cluster) -> None:
    with CassandraAdapter(lab_cassandra) as adapter:
        node = lab_cassandra.nodes[0]  # the first seed
        host, before = host_for(node), adapter.evidence(node)
        host.stop("kill")
        host.wipe(adapter.data_directories(node))
        start(node, host, adapter, emptied=True)
        await_true(lambda: adapter.stable("whole").reached, "the cluster is whole", _BACK_S)
        after = adapter.evidence(node)
        assert after["host_id"] == before["host_id"]
        assert after["generation"] > before["generation"]


def test_nodes_that_all_died_come_back_as_the_cluster_that_they_were(
    lab_cassandra: Cluster,
) -> None:
    with CassandraAdapter(lab_cassandra) as adapter:
        ids = [member.detail["host_id"] for member in adapter.members()]
        for node in lab_cassandra.nodes:
            host_for(node).stop("kill")
        assert lab.up(lab_cassandra.name) == lab_cassandra
        assert [member.detail["host_id"] for member in adapter.members()] == ids


def test_a_secured_lab_serves_who_has_a_certificate_and_a_password_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab_cassandra: Cluster
) -> None:
    lab.down(lab_cassandra.name)  # six JVMs are too many
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    try:
        cluster = lab.up("lab-cassandra-secure")
        with CassandraAdapter(cluster) as adapter:
            adapter.ready()
            spec = adapter.load_spec()["connection"]
        assert spec["tls"]["enabled"]
        written = (tmp_path / "lab-cassandra-secure").rglob("*.yaml")
        assert not any(spec["password"] in file.read_text() for file in written)
        way = cluster.connection
        assert way.tls is not None
        bare = way.tls.model_copy(update={"certificate_file": None})
        for changed in ({"tls": bare}, {"auth": None}, {"tls": None}):
            without = way.model_copy(update=changed)
            stranger = adapter_for(cluster.model_copy(update={"connection": without}))
            with pytest.raises(ClusterError, match="does not answer"):
                stranger.ready()
            stranger.close()
    finally:
        lab.down("lab-cassandra-secure")
