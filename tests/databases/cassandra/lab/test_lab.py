"""Labs of Cassandra: real nodes that lose one of them, and its data."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.base.errors import ClusterError, Refused
from brownout.databases.access import Access
from brownout.databases.adapter import adapter_for
from brownout.databases.cassandra.adapter import CassandraAdapter
from brownout.databases.cassandra.link import Link
from brownout.databases.start import start
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
        identity, directories = adapter.identity(node), adapter.data_directories(node)
        assert node.host is not None
        assert node.host.config_file is not None
        text = node.host.config_file.read_text()
        node.host.config_file.write_text(text.replace("/hints", "/other"))
        with pytest.raises(Refused, match=r"names .*/other`.*, but it runs with .*/hints`"):
            adapter.data_directories(node)
        node.host.config_file.write_text(text)
        host.stop("kill")
        assert adapter.data_directories(node) == directories
        host.wipe(adapter.data_directories(node))
        start(node, host, adapter, emptied=True)
        await_true(lambda: adapter.stable("whole").reached, "the cluster is whole", _BACK_S)
        after = adapter.evidence(node)
        assert after["host_id"] == before["host_id"]
        assert adapter.identity(node) not in ("", identity)
        assert after["generation"] > before["generation"]


def test_a_node_with_its_commit_log_in_its_data_is_wiped_once_and_replaces_itself(
    lab_cassandra: Cluster,
) -> None:
    with CassandraAdapter(lab_cassandra) as adapter:
        node = lab_cassandra.nodes[1]
        host = host_for(node)
        assert node.host is not None
        assert node.host.config_file is not None
        text = node.host.config_file.read_text()
        outer = node.host.config_file.parent / "data"
        host.stop("clean")
        inner = outer / "data"
        for each in sorted(inner.iterdir()):
            each.rename(outer / each.name)
        inner.rmdir()
        node.host.config_file.write_text(text.replace(f"- {inner}\n", f"- {outer}\n"))
        try:
            host.start()
            await_true(lambda: adapter.stable("whole").reached, "the cluster is whole", _BACK_S)
            directories = adapter.data_directories(node)
            assert directories[0] == outer
            host.stop("kill")
            (emptied,) = host.wipe(directories).evidence["directories"]
            assert sorted(emptied["kept_empty"]) == sorted(map(str, directories[1:]))
            start(node, host, adapter, emptied=True)
            await_true(lambda: adapter.stable("whole").reached, "the cluster is whole", _BACK_S)
        finally:
            node.host.config_file.write_text(text)


def test_nodes_that_all_died_come_back_as_the_cluster_that_they_were(
    lab_cassandra: Cluster,
) -> None:
    with CassandraAdapter(lab_cassandra) as adapter:
        ids = [member.detail["host_id"] for member in adapter.members()]
        for node in lab_cassandra.nodes:
            host_for(node).stop("kill")
        for node in lab_cassandra.nodes:
            start(node, host_for(node), adapter, emptied=False)
        await_true(lambda: adapter.stable("whole").reached, "the cluster is whole", _BACK_S)
        assert [member.detail["host_id"] for member in adapter.members()] == ids


def test_the_guard_of_a_wipe_knows_what_the_workload_writes_with(lab_cassandra: Cluster) -> None:
    with closing(Link(lab_cassandra.nodes[0], Access(), 60)) as link:
        link.change(
            "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = "
            "{'class': 'NetworkTopologyStrategy', 'dc1': 3}"
        )
        try:
            found = {level: plan_wipe(lab_cassandra, level) for level in ("ONE", "QUORUM")}
        finally:
            link.change("DROP KEYSPACE shop")
    assert "NO   copies: " in found["ONE"].stdout
    assert "`shop` a write at ONE is acknowledged by 1 copy, and n1 may have" in found["ONE"].stdout
    assert (found["ONE"].returncode, found["QUORUM"].returncode) == (64, 0)


def plan_wipe(cluster: Cluster, consistency: str) -> subprocess.CompletedProcess[str]:
    settings = {
        "cluster": cluster.name,
        "target": "n1",
        "load": f"options.cassandra.consistency={consistency}",
    }
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return brownout("plan", "node-wipe", *words)


def brownout(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "brownout", *words], capture_output=True, text=True
    )


def test_a_secured_lab_serves_who_has_a_certificate_and_a_password_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab_cassandra: Cluster
) -> None:
    lab.down(lab_cassandra.name)  # six JVMs are too many
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    try:
        cluster = lab.up("lab-cassandra-secure")
        with CassandraAdapter(cluster) as adapter:
            adapter.ready()
            assert [member.state for member in adapter.members()] == ["NORMAL"] * 3
            assert adapter.would_lose(cluster.nodes[:1]) == []  # roles are on every node
            spec = adapter.load_spec()["connection"]
        checked = brownout("doctor", "--cluster", cluster.name)
        assert checked.returncode == 0, checked.stdout
        assert plan_wipe(cluster, "QUORUM").returncode == 0
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
