"""Labs of Redis Cluster: real nodes that lose a master, and their data."""

import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.own_lab import own_lab
from tests.waiting import await_true, await_whole

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.adapter import FailureDetection, adapter_for
from brownout.databases.redis import rejoin
from brownout.databases.redis.adapter import RedisAdapter
from brownout.databases.redis.link import Link
from brownout.databases.start import start
from brownout.infra import lab
from brownout.inventory.model import Cluster, Node
from brownout.load.client_check import Conversation, check
from brownout.machine.host import host_for

CLIENTS = Path(lab.__file__).parent.parent / "clients"


def ask(node: Node, *words: str) -> object:
    with closing(Link(node, Access(), 5.0)) as link:
        return link.ask(*words)


@pytest.mark.live
def test_a_lab_is_whole_and_says_what_it_is(lab_redis: Cluster) -> None:
    with RedisAdapter(lab_redis) as adapter:
        adapter.ready()
        assert adapter.engine().startswith("redis ")
        assert adapter.failure_detection() == FailureDetection("cluster-node-timeout", 1.5)
        states = sorted(member.state for member in adapter.members())
        assert states == ["MASTER"] * 3 + ["REPLICA"] * 3
        masters = {node.name for node in adapter.targets("role=master", 1)}
        claims = {}
        for candidate in adapter.candidates():
            with closing(candidate):
                claims[candidate.node] = candidate.claim()
        assert {name for name, claim in claims.items() if claim.primary} == masters
        for node in adapter.targets("role=master", 1):
            assert claims[node.name].election == str(adapter.evidence(node)["epoch"])


@pytest.mark.matrix
def test_a_master_hands_over_and_a_replica_has_nothing_to_hand_over(lab_redis: Cluster) -> None:
    with RedisAdapter(lab_redis) as adapter:
        (master,) = adapter.targets("master@s1", 1)
        proof = adapter.step_down(master, 10)
        assert not proof.already
        assert proof.evidence["state_before"] == "MASTER"
        assert adapter.targets("master@s1", 1)[0].name == proof.evidence["handed_to"]
        assert adapter.drain(master).already
        assert adapter.undrain(master).already
        await_whole(adapter)


@pytest.mark.matrix
def test_a_wiped_master_comes_back_as_a_new_replica_with_all_data(lab_redis: Cluster) -> None:
    with RedisAdapter(lab_redis) as adapter:
        (node,) = adapter.targets("master@s2", 1)
        host, before = host_for(node), adapter.evidence(node)
        host.stop("kill")
        assert adapter.would_lose([node])
        await_true(lambda: not adapter.would_lose([node]), "its replica is promoted")
        host.wipe(adapter.data_directories(node))
        (master,) = adapter.targets("master@s2", 1)
        proof = start(node, host, adapter, emptied=True)
        assert proof.evidence["replicates"] == master.name
        assert proof.evidence["forgot"] == before["node_id"]
        await_whole(adapter)
        assert adapter.evidence(node)["node_id"] == proof.evidence["added_node"]
        assert adapter.after_start(node, emptied=True) == {}
        assert adapter.after_start(node, emptied=False) == {}


@pytest.mark.matrix
def test_a_master_without_data_is_not_started_before_its_replica_is_promoted(
    lab_redis: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its place in the cluster, so it would have its replica copy nothing."""
    with RedisAdapter(lab_redis) as adapter:
        (node,) = adapter.targets("master@s3", 1)
        (replica,) = (n for n in lab_redis.nodes if n.shard == "s3" and n != node)
        assert ask(node, "CONFIG", "GET", "appendonly") == ["appendonly", "yes"]
        ask(replica, "CONFIG", "SET", "cluster-replica-no-failover", "yes")
        host = host_for(node)
        (data,) = adapter.data_directories(node)
        host.stop("kill")
        aside = (data / "appendonlydir").rename(data.with_name("aside"))
        monkeypatch.setattr(rejoin, "_PROMOTED_S", 4.0)
        with pytest.raises(ClusterError, match="would have its replica copy nothing"):
            start(node, host, adapter, emptied=False)
        assert not host.running().running
        ask(replica, "CONFIG", "SET", "cluster-replica-no-failover", "no")
        monkeypatch.setattr(rejoin, "_PROMOTED_S", 60.0)
        start(node, host, adapter, emptied=False)
        assert adapter.targets("master@s3", 1) == [replica]
        await_whole(adapter)
        for file in sorted(aside.iterdir()):
            file.unlink()
        aside.rmdir()


@pytest.mark.matrix
def test_a_lab_with_a_wiped_node_is_mended(lab_redis: Cluster) -> None:
    with RedisAdapter(lab_redis) as adapter:
        (node,) = adapter.targets("replica", 1)
        host_for(node).stop("kill")
        host_for(node).wipe(adapter.data_directories(node))
        assert lab.up(lab_redis.name) == lab_redis
        await_whole(adapter)
        host_for(node).stop("kill")
        host_for(node).wipe(adapter.data_directories(node))
        host_for(node).start()  # as where a run died before it was introduced
        assert lab.up(lab_redis.name) == lab_redis
        await_whole(adapter)


@pytest.mark.live
def test_a_secured_lab_serves_who_has_a_certificate_and_a_password_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab("lab-redis-secure", tmp_path, monkeypatch) as cluster:
        with RedisAdapter(cluster) as adapter:
            await_whole(adapter)
            spec = adapter.load_spec()["connection"]
            assert spec["tls"]["enabled"]
            assert spec["password"]
        command = [sys.executable, str(CLIENTS / "redis_cluster.py")]
        with Conversation(command, spec, {}) as client:
            assert [rule for rule in check(client) if rule.problem] == []
        written = (tmp_path / "lab-redis-secure").rglob("*.yaml")
        assert not any(spec["password"] in file.read_text() for file in written)
        with closing(Link(cluster.nodes[0], Access(), 2.0)) as link, pytest.raises(ClusterError):
            link.ask("PING")
        way = cluster.connection
        assert way.tls is not None
        bare = way.tls.model_copy(update={"certificate_file": None})
        for changed in ({"tls": bare}, {"auth": None}):
            without = way.model_copy(update=changed)
            stranger = adapter_for(cluster.model_copy(update={"connection": without}))
            with pytest.raises(ClusterError, match="does not answer"):
                stranger.ready()
            stranger.close()
