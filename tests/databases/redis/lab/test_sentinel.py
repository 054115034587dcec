"""A lab of Redis under Sentinel: servers and sentinels say who is master, and promote another."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr
from tests.own_lab import own_lab
from tests.waiting import await_true, await_whole
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.adapter import FailureDetection, adapter_for
from brownout.databases.milestones import still_unmet
from brownout.databases.redis.census import census
from brownout.databases.redis.lab.sentinel import sentinels_in
from brownout.databases.redis.lab.sentinel import start as start_sentinels
from brownout.databases.redis.link import Link
from brownout.databases.redis.sentinel import adapter as of_sentinel
from brownout.databases.redis.sentinel.adapter import SentinelAdapter
from brownout.databases.start import start
from brownout.inventory import inventory, labs
from brownout.inventory.connection import Auth
from brownout.inventory.importers.document import written
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.timeout(600)]
ON = "lab-redis-sentinel"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with own_lab(ON, tmp_path, monkeypatch) as lab:
        yield lab


def made(cluster: Cluster) -> SentinelAdapter:
    adapter = adapter_for(cluster)
    assert isinstance(adapter, SentinelAdapter)
    return adapter


def states(adapter: SentinelAdapter) -> dict[str, str]:
    return {member.node: member.state for member in adapter.members()}


def order(address: str, *words: str) -> object:
    with closing(Link(Node(name="asked", address=address), Access(), 5.0)) as link:
        return link.ask(*words)


def test_it_is_whole_and_says_what_it_is_and_who_watches(cluster: Cluster) -> None:
    with made(cluster) as adapter:
        adapter.ready()
        assert states(adapter) == {"n1": "MASTER", "n2": "REPLICA", "n3": "REPLICA"}
        assert adapter.failure_detection() == FailureDetection("down-after-milliseconds", 1.5)
        by = {member.node: member.detail["named_master_by"] for member in adapter.members()}
        assert (by["n1"], by["n2"]) == ("3 of 3 sentinels", "0 of 3 sentinels")
        assert adapter.stable("whole").detail["named_master"] == "n1"
        assert not adapter.supports("slots").ok


def test_a_killed_master_is_replaced_and_becomes_a_replica_when_it_comes_back(
    cluster: Cluster,
) -> None:
    with made(cluster) as adapter:
        (old,) = adapter.targets("master", 1)
        assert adapter.would_lose([old]) == []
        before = adapter.signature()
        host_for(old).stop("kill")
        assert adapter.would_lose([old])
        await_true(lambda: adapter.signature() != before, "sentinels see it as down")
        await_true(lambda: not adapter.would_lose([old]), "a replica is promoted")
        assert adapter.targets("master", 1) != [old]
        start(old, host_for(old), adapter, emptied=False)
        await_whole(adapter)
        assert states(adapter)[old.name] == "REPLICA"


def test_a_wiped_master_is_not_started_before_another_one_is_named(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be master again, and have its replicas copy nothing."""
    with made(cluster) as adapter:
        (old,) = adapter.targets("master", 1)
        host, places = host_for(old), adapter.data_directories(old)
        for node in sentinels_in(labs.directory(cluster.name)):
            host_for(node).stop("kill")
        host.stop("kill")
        host.wipe(places)
        monkeypatch.setattr(of_sentinel, "_PROMOTED_S", 2.0)
        with pytest.raises(ClusterError, match=naming(old.name, "copy nothing")):
            start(old, host, adapter, emptied=True)
        assert not host.running().running
        start_sentinels(labs.directory(cluster.name))
        monkeypatch.setattr(of_sentinel, "_PROMOTED_S", 60.0)
        start(old, host, adapter, emptied=True)
        await_whole(adapter)
        assert states(adapter)[old.name] == "REPLICA"


def test_the_sentinels_promote_a_replica_on_demand(cluster: Cluster) -> None:
    with made(cluster) as adapter:
        (old,) = adapter.targets("master", 1)
        proof = adapter.step_down(old, 10)
        assert not proof.already
        assert adapter.targets("master", 1)[0].name == proof.evidence["handed_to"]
        await_whole(adapter)
        assert adapter.step_down(old, 10).already


def test_without_a_quorum_it_is_not_whole_and_no_node_is_promoted(cluster: Cluster) -> None:
    with made(cluster) as adapter:
        (old,) = adapter.targets("master", 1)
        for node in sentinels_in(labs.directory(cluster.name))[:2]:
            host_for(node).stop("kill")
        assert any("does not watch" in words for words in still_unmet(adapter, "whole"))
        host_for(old).stop("kill")
        await_true(
            lambda: any("fewer than half" in words for words in still_unmet(adapter, "whole")),
            "most sentinels are gone",
        )
        assert adapter.would_lose([old])
        assert "MASTER" not in states(adapter).values()


def test_its_nodes_and_sentinels_are_written_as_a_server_or_a_sentinel_says(
    cluster: Cluster,
) -> None:
    assert cluster.sentinel is not None
    for address in (cluster.node("n2").address, cluster.sentinel.addresses[1]):
        seed = Node(name="asked", address=address)
        asked = cluster.model_copy(update={"nodes": (seed,), "lab": None, "sentinel": None})
        found = inventory.parse(yaml.safe_load(written(census(asked), "redis")), Path("x.yaml"))
        assert {node.address for node in found.nodes} == {node.address for node in cluster.nodes}
        assert found.sentinel is not None
        assert set(found.sentinel.addresses) == set(cluster.sentinel.addresses)


def test_a_sentinel_that_wants_a_login_gets_the_one_of_the_inventory(cluster: Cluster) -> None:
    assert cluster.sentinel is not None
    for address in cluster.sentinel.addresses:
        order(address, "ACL", "SETUSER", "watcher", "on", ">not to be seen", "allcommands")
        order(address, "ACL", "SETUSER", "default", "off")
    refused = pytest.raises(ClusterError, match=naming("sentinel.auth"))
    with made(cluster) as adapter, refused as error:
        adapter.ready()
    assert "not to be seen" not in str(error.value)
    auth = Auth(username="watcher", password=SecretStr("not to be seen"))
    sentinel = cluster.sentinel.model_copy(update={"auth": auth})
    login = cluster.model_copy(update={"sentinel": sentinel})
    with made(login) as adapter:
        adapter.ready()
        spec = adapter.load_spec()["connection"]["sentinel"]
        assert (spec["username"], spec["password"]) == ("watcher", "not to be seen")
