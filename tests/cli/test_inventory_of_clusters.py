"""`brownout inventory from-cluster`: inventories of living clusters, by one of their nodes."""

from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Brownout
from tests.own_lab import own_lab

from brownout.databases.postgresql.access import api_of
from brownout.inventory import inventory
from brownout.inventory.model import Cluster

LABS = ("lab_etcd", "lab_mongodb", "lab_aerospike", "lab_postgresql", "lab_cassandra")


def _has(text: str, *words: str) -> bool:
    return all(word in text for word in words)


def _parsed(text: str) -> Cluster:
    return inventory.parse(yaml.safe_load(text), Path("x.yaml"))


def _finds(brownout: Brownout, lab: Cluster) -> Cluster:
    """Ask each of the first two nodes of a lab, and return what both say."""
    asked = [api_of(n) if lab.database == "postgresql" else n.address for n in lab.nodes[:2]]
    told = [
        brownout("inventory", "from-cluster", address, "--database", lab.database)
        for address in asked
    ]
    assert [one.code for one in told] == [0, 0], told[0].err + told[1].err
    first, second = (_parsed(one.out) for one in told)
    assert {node.address for node in first.nodes} == {node.address for node in lab.nodes}
    assert {node.address for node in first.nodes} == {node.address for node in second.nodes}
    return first


@pytest.mark.live
def test_a_redis_cluster_is_written_as_one_of_its_nodes_says(
    brownout: Brownout, lab_redis: Cluster
) -> None:
    assert _finds(brownout, lab_redis).database == "redis"


@pytest.mark.matrix
@pytest.mark.parametrize("lab", LABS)
def test_every_cluster_is_written_as_one_of_its_nodes_says(
    brownout: Brownout, lab: str, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(lab)
    found = _finds(brownout, cluster)
    assert found.connection.replica_set == cluster.connection.replica_set


@pytest.mark.matrix
def test_the_shards_of_a_cluster_are_written_as_a_router_says(
    brownout: Brownout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab("lab-mongodb-sharded", tmp_path, monkeypatch) as lab:
        (router, *_) = lab.connection.hosts
        told = brownout("inventory", "from-cluster", router, "--database", "mongodb")
        assert told.code == 0, told.err
        found = _parsed(told.out)
    assert {(n.address, n.shard) for n in found.nodes} == {(n.address, n.shard) for n in lab.nodes}
    assert found.connection.hosts == (router,)


@pytest.mark.matrix
def test_a_login_is_written_by_reference_and_its_password_nowhere(
    brownout: Brownout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab("lab-redis-secure", tmp_path, monkeypatch) as lab:
        auth, tls = lab.connection.auth, lab.connection.tls
        assert auth is not None
        assert auth.password is not None
        assert tls is not None
        password = auth.password.get_secret_value()
        monkeypatch.setenv("SHOP_PASSWORD", password)
        login = ["--username", auth.username, "--password-env", "SHOP_PASSWORD"]
        files = ["--ca-file", tls.ca_file, "--certificate-file", tls.certificate_file]
        first = lab.nodes[0].address
        told = brownout("inventory", "from-cluster", first, "--database", "redis", *login, *files)
        assert told.code == 0, told.err
        assert _parsed(told.out).connection.auth == auth
        assert "password: {env: SHOP_PASSWORD}" in told.out
        assert password not in told.out + told.err
        refused = brownout("inventory", "from-cluster", first, "--database", "redis", *files)
        assert refused.code != 0
        assert _has(refused.err, "NOAUTH", "--username")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("127.0.0.1:1", "--database", "redis"), ("refused", "--tls")),
        (("127.0.0.1:x:y", "--database", "redis"), ("127.0.0.1:x:y", "host:port")),
        (("127.0.0.1:1", "--database", "couchbase"), ("couchbase", "redis")),
        (("db1:6379", "--username", "u"), ("--password-env", "--password-file")),
        (("db1:6379", "--ca-file", "none.pem"), ("none.pem",)),
    ],
)
def test_what_cannot_be_asked_is_refused(
    brownout: Brownout, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    told = brownout("inventory", "from-cluster", *arguments)
    assert told.code != 0
    assert told.out == ""
    assert _has(told.err, *words), told.err
