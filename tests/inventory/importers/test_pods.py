"""An inventory of pods, from objects as an API server has them."""

from typing import Any

import pytest
import yaml

from brownout.base.errors import ConfigurationError
from brownout.inventory.importers import pods, written
from brownout.inventory.importers.pods import Wanted
from brownout.kubernetes.access import Access

_SET = {"metadata": {"name": "db", "uid": "set-uid"}}


def _pod(ordinal: int, container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"db-{ordinal}",
            "namespace": "databases",
            "labels": {"app": "db"},
            "ownerReferences": [{"kind": "StatefulSet", "uid": "set-uid", "controller": True}],
        },
        "spec": {
            "hostname": f"db-{ordinal}",
            "subdomain": "db",
            "containers": [container, {"name": "exporter", "image": "exporter:1"}],
            **spec,
        },
        "status": {"podIP": f"10.0.0.{ordinal}"},
    }


def _mongod(**changes: Any) -> dict[str, Any]:
    words = ["mongod", "--replSet=orders", "--dbpath", "/data/db"]
    return {"name": "main", "image": "mongo:7", "command": words, **changes}


def _inventory(
    *found: dict[str, Any], known: dict[str, Any] | None = None, **wanted: Any
) -> dict[str, Any]:
    access = Access(namespace="databases", context="staging")
    asked = Wanted("statefulset/db", access, "db", **wanted)
    imported, database = pods.read(asked, [_SET], found, known or {})
    loaded: dict[str, Any] = yaml.safe_load(written(imported, database))
    return loaded


def test_pods_of_a_replica_set_become_nodes_in_the_order_of_their_numbers() -> None:
    found = _inventory(*(_pod(number, _mongod()) for number in (10, 0, 2)))
    assert found["database"] == "mongodb"
    assert found["connection"]["replica_set"] == "orders"
    assert [node["name"] for node in found["nodes"]] == ["db-0", "db-2", "db-10"]
    assert found["nodes"][0] == {
        "name": "db-0",
        "address": "db-0.db.databases.svc.cluster.local:27017",
        "host": {
            "kind": "kubernetes",
            "context": "staging",
            "namespace": "databases",
            "pod": "db-0",
            "container": "main",
            "program": "mongod",
            "command": ["mongod", "--dbpath", "/data/db"],
        },
    }


def test_pods_of_the_aerospike_operator_have_racks_and_the_namespace_of_their_resource() -> None:
    server = {"name": "aerospike-server", "image": "aerospike/aerospike-server-enterprise:8.1"}
    pod = _pod(0, server)
    pod["metadata"]["labels"]["aerospike.com/rack-id"] = "2"
    found = _inventory(pod, known={"options": {"namespace": "test"}})
    assert found["database"] == "aerospike"
    assert found["connection"]["options"] == {"namespace": "test"}
    node = found["nodes"][0]
    assert (node["rack"], node["address"]) == ("2", "db-0.db.databases.svc.cluster.local:3000")
    assert node["host"]["program"] == "asd"
    assert node["host"]["config_file"] == "/etc/aerospike/aerospike.conf"


@pytest.mark.parametrize(
    ("container", "wanted", "port"),
    [
        (_mongod(), {}, 27017),
        (_mongod(args=["--port", "27018"]), {}, 27018),
        (_mongod(ports=[{"containerPort": 27019}]), {}, 27019),
        (_mongod(ports=[{"containerPort": 1}, {"containerPort": 2}]), {}, 27017),
        (_mongod(ports=[{"containerPort": 27019}]), {"port": 4711}, 4711),
    ],
)
def test_the_port_is_that_of_the_option_the_command_or_the_container(
    container: dict[str, Any], wanted: dict[str, Any], port: int
) -> None:
    found = _inventory(_pod(0, container), pod_addresses=True, **wanted)
    assert found["nodes"][0]["address"] == f"10.0.0.0:{port}"


@pytest.mark.parametrize(
    ("image", "database"),
    [
        ("registry.example.com:5000/mongo@sha256:ab", "mongodb"),
        ("mongo-enterprise:7", "mongodb"),
        ("aerospike/aerospike-server:8", "aerospike"),
        ("mongodb/mongodb-agent:1", ""),
        ("bitnami/mongodb-exporter:1", ""),
        ("memcached:1", ""),
    ],
)
def test_a_database_is_known_by_its_image_where_no_command_says_it(
    image: str, database: str
) -> None:
    pod = _pod(0, {"name": "main", "image": image})
    if database:
        assert _inventory(pod)["database"] == database
    else:
        with pytest.raises(ConfigurationError, match="found 0 containers of a database"):
            _inventory(pod)


_OWN_NAME = {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
_ADDRESS = {"name": "URL", "value": "http://$(NAME).db:2380"}


@pytest.mark.parametrize(
    ("database", "container", "host"),
    [
        (
            "etcd",
            {
                "command": ["/usr/local/bin/etcd", "--name=$(NAME)"],
                "args": [
                    "--data-dir=/var/run/etcd/$(NAME)",
                    "--initial-advertise-peer-urls=$(URL)",
                    "--initial-cluster-state=existing",
                    "--listen-client-urls=http://0.0.0.0:$(UNKNOWN)",
                ],
                "env": [_OWN_NAME, _ADDRESS],
            },
            {
                "program": "etcd",
                "command": [
                    *("etcd", "--data-dir", "/var/run/etcd/db-0"),
                    *("--initial-advertise-peer-urls", "http://db-0.db:2380"),
                    *("--initial-cluster-state", "existing"),
                ],
            },
        ),
        (
            "redis",
            {"image": "redis:8", "args": ["redis-server", "/conf/redis.conf", "--dir", "/data"]},
            {
                "program": "redis-server",
                "command": ["redis-server", "--dir", "/data"],
                "config_file": "/conf/redis.conf",
            },
        ),
        (
            "postgresql",
            {"command": ["patroni", "/etc/patroni.yml"]},
            {"program": "patroni", "config_file": "/etc/patroni.yml"},
        ),
        (
            "cassandra",
            {"image": "docker.io/library/cassandra:5.0"},
            {"program": "java", "config_file": "/etc/cassandra/cassandra.yaml"},
        ),
    ],
)
def test_every_database_is_told_where_it_keeps_its_data_in_its_own_way(
    database: str, container: dict[str, Any], host: dict[str, Any]
) -> None:
    found = _inventory(_pod(0, {"name": "main", "image": "other", **container}))
    assert found["database"] == database
    told = found["nodes"][0]["host"]
    assert {
        name: told[name] for name in ("program", "command", "config_file") if name in told
    } == host


def test_two_databases_in_a_pod_are_told_apart_by_the_container_that_is_named() -> None:
    pod = _pod(0, _mongod())
    pod["spec"]["containers"].append(_mongod(name="second", command=["mongod"]))
    with pytest.raises(ConfigurationError, match=r"found 2 containers.*--container"):
        _inventory(pod)
    assert _inventory(pod, container="second")["nodes"][0]["host"]["container"] == "second"
    with pytest.raises(ConfigurationError, match="has no container `third`, but main, exporter"):
        _inventory(pod, container="third")


def test_every_pod_that_cannot_be_told_is_named_at_once() -> None:
    nameless = {"hostname": None, "subdomain": None}
    with pytest.raises(ConfigurationError) as raised:
        _inventory(_pod(0, _mongod(), **nameless), _pod(1, {"name": "main", "image": "memcached"}))
    assert len(raised.value.problems) == 2
    with pytest.raises(ConfigurationError, match="owns no pods of a StatefulSet"):
        _inventory()
    other = _pod(0, _mongod())
    other["metadata"]["ownerReferences"][0]["uid"] = "another"
    with pytest.raises(ConfigurationError, match="owns no pods of a StatefulSet"):
        _inventory(other)


def test_what_is_not_known_stands_there_as_a_comment() -> None:
    other = _pod(0, {"name": "main", "image": "other", "command": ["patroni"]})
    unknown, of = pods.read(Wanted("statefulset/db", Access(), "db"), [_SET], [other], {})
    assert "# db-0: where it keeps its data is not known" in written(unknown, of)
    imported, database = pods.read(
        Wanted("statefulset/db", Access(), "db"), [_SET], [_pod(0, _mongod(command=[]))], {}
    )
    text = written(imported, database)
    assert "# db-0: if its database is PID 1, it cannot be paused" in text
    assert "# replica_set: …" in text
