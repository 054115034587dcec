"""Compose files in the shapes that people publish. The names and numbers are ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from tests.fuzzing import answers, changed, damaged, fuzzed
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.importers import compose, document
from brownout.inventory.importers.containers import Wanted, read
from brownout.inventory.importers.machine import Imported

Write = Callable[..., Path]

SECRET = "hunter2-of-nobody"
REDIS = f"""\
x-node: &node
  image: docker.io/bitnami/redis-cluster:${{TAG:-7.2}}
  environment: &env {{REDIS_PASSWORD: {SECRET}, REDIS_NODES: r0 r1 r2}}
services:
  r0: {{<<: *node, volumes: ["r0:/bitnami/redis/data"], ports: ["7000:6379", "17000:16379"]}}
  r1: {{<<: *node, volumes: ["./r1:/bitnami/redis/data"], ports: ["127.0.0.2:7001:6379/tcp"]}}
  r2:
    <<: *node
    container_name: last
    environment: {{<<: *env, REDIS_CLUSTER_CREATOR: "yes"}}
    ports: [{{target: 6379, published: "7002"}}]
  insight: {{image: "redis/redisinsight:2", ports: ["5540:5540"]}}
  exporter: {{image: oliver006/redis_exporter}}
  app: {{build: ., environment: {{REDIS_HOST: r0}}}}
"""
MONGO = """\
name: shop
services:
  m1: &m
    image: mongo:7.0
    command: ["--replSet", "rs0", "--bind_ip_all", "--port", "30001"]
    ports: ["30001:30001"]
    env_file: [{path: mongo.env}, {path: none.env, required: false}]
  m2:
    extends: {service: m1}
    command: mongod --replSet rs0 --port 30002
    ports: !override ["30002:30002"]
  m3:
    image: mongo:7.0
    entrypoint: ["/usr/bin/mongod", "--replSet", "rs0", "--port", "30003"]
    ports: ["30003:30003"]
    profiles: [three]
  setup:
    image: mongo:7.0
    entrypoint: ["/bin/bash", "-c"]
    command: ["until mongosh --host m1:30001 --eval 'rs.initiate()'; do sleep 1; done"]
  express: {image: mongo-express, ports: ["8081:8081"]}
"""
PATRONI = """\
services:
  etcd1: &etcd
    image: ${IMAGE:-patroni}
    container_name: demo-etcd1
    hostname: etcd1
    environment: [ETCD_DATA_DIR=/var/lib/etcd]
    command: etcd --name etcd1
  haproxy: {image: "${IMAGE:-patroni}", command: haproxy, ports: ["5000:5000"]}
  patroni1: &p
    image: ${IMAGE:-patroni}
    env_file: patroni.env
    ports: ["5431:5432", "8001:8008"]
  patroni2: {<<: *p, ports: ["5432:5432"]}
"""
CASSANDRA = """\
services:
  c1:
    image: cassandra:4.1
    environment: [CASSANDRA_SEEDS=c1]
    networks: {ring: {ipv4_address: 172.28.0.11}}
  c2: {image: "cassandra:4.1", deploy: {replicas: 2}, ports: ["9042"]}
  init: {image: "cassandra:4.1", command: "cqlsh c1 -f /schema.cql"}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a Compose file, and others beside it, into a project's folder."""
    for name in ("COMPOSE_PROJECT_NAME", "COMPOSE_PROFILES", "IMAGE", "TAG"):
        monkeypatch.delenv(name, raising=False)

    def write(text: str, name: str = "docker-compose.yml", **beside: str) -> Path:
        folder = tmp_path / "shop"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        for other, content in beside.items():
            (folder / other.replace("__", ".")).write_text(content)
        return folder / name

    return write


def _read(file: Path, profiles: tuple[str, ...] = (), **wanted: Any) -> tuple[Imported, str]:
    project, containers, _ = compose.services(file, profiles)
    return read(Wanted(project, file.name, **wanted), containers)


def addresses(imported: Imported) -> dict[str, str]:
    return {one.name: f"{one.address}:{one.database_port}" for one in imported.machines}


def text_of(file: Path, **wanted: Any) -> str:
    imported, database = _read(file, **wanted)
    text = document.written(imported, database, path=file.with_name("x.yaml"))
    inventory.parse(yaml.safe_load(text), file.with_name("x.yaml"))
    return text


def test_a_redis_cluster_with_anchors_and_published_ports(file: Write) -> None:
    imported, database = _read(file(REDIS))
    assert database == "redis"
    assert addresses(imported) == {
        "shop-r0-1": "127.0.0.1:7000",
        "shop-r1-1": "127.0.0.2:7001",
        "last": "127.0.0.1:7002",
    }
    text = text_of(file(REDIS))
    assert "# shop-r1-1: /bitnami/redis/data" in text
    assert "# shop-r0-1: /bitnami" not in text
    assert SECRET not in text


def test_a_replica_set_with_extends_profiles_and_a_job_that_sets_it_up(file: Write) -> None:
    path = file(MONGO, mongo__env=f'MONGO_INITDB_ROOT_PASSWORD="{SECRET}"\n')
    imported, database = _read(path)
    assert database == "mongodb"
    assert addresses(imported) == {"shop-m1-1": "127.0.0.1:30001", "shop-m2-1": "127.0.0.1:30002"}
    assert imported.connection == {"replica_set": "rs0"}
    assert "m3 (profile three)" in " ".join(compose.services(path)[2])
    assert len(_read(path, ("three",))[0].machines) == len(_read(path, ("*",))[0].machines) == 3
    assert SECRET not in text_of(path)


def test_patroni_beside_the_etcd_that_it_needs(file: Write) -> None:
    path = file(PATRONI, patroni__env=f"PATRONI_SUPERUSER_PASSWORD={SECRET}\n")
    with pytest.raises(
        ConfigurationError, match=naming("etcd (etcd1)", "postgresql (patroni1", "--database")
    ):
        _read(path)
    imported, _ = _read(path, database="postgresql")
    assert addresses(imported) == {
        "shop-patroni1-1": "127.0.0.1:5431",
        "shop-patroni2-1": "127.0.0.1:5432",
    }
    first, second = imported.machines
    assert first.api == "127.0.0.1:8001"
    assert any("8008 is not published" in note for note in second.notes)
    assert SECRET not in text_of(path, database="postgresql")
    etcd, _ = _read(path, database="etcd")
    assert addresses(etcd) == {"demo-etcd1": "etcd1:2379"}
    assert any("2379 is not published" in note for note in etcd.machines[0].notes)


STREAMING = f"""\
services:
  pg1: &pg
    image: IMAGE
    environment: {{POSTGRES_PASSWORD: {SECRET}}}
    ports: ["5432:5432"]
    volumes: ["pg1:/var/lib/postgresql/data"]
  pg2:
    <<: *pg
    ports: ["5433:5432"]
    volumes: ["./pg2:/var/lib/postgresql/data"]
"""


@pytest.mark.parametrize(
    "image", ["postgres:16", "postgis/postgis:16-3.4", "pgvector/pgvector:pg16"]
)
def test_postgresql_without_patroni_streams_and_says_itself_where_its_data_lie(
    file: Write, image: str
) -> None:
    path = file(STREAMING.replace("IMAGE", image))
    imported, database = _read(path)
    assert database == "postgresql"
    assert addresses(imported) == {"shop-pg1-1": "127.0.0.1:5432", "shop-pg2-1": "127.0.0.1:5433"}
    first, second = imported.machines
    assert first.notes == ()  # no supervisor is asked, and a wipe finds its volume
    assert ["bind mount" in note for note in second.notes] == [True]
    cluster = inventory.parse(yaml.safe_load(text_of(path)), path)
    assert cluster.streaming is not None


def test_cassandra_with_fixed_addresses_and_replicas(file: Write) -> None:
    imported, database = _read(file(CASSANDRA))
    assert database == "cassandra"
    assert addresses(imported) == {
        "shop-c1-1": "172.28.0.11:9042",
        "shop-c2-1": "shop-c2-1:9042",
        "shop-c2-2": "shop-c2-2:9042",
    }
    assert any("from-docker" in note for note in imported.machines[1].notes)


SHARDED = """\
services:
  cfg: {image: mongo:7, command: mongod --configsvr --replSet cfg --port 27019}
  s1: {image: mongo:7, command: mongod --shardsvr --replSet s1, ports: ["27101:27018"]}
  s2: {image: mongo:7, command: mongod --shardsvr --replSet s2, ports: ["27102:27018"]}
"""
ROUTER = '  q: {image: mongo:7, command: mongos --configdb cfg/cfg:27019, ports: ["27117:27017"]}\n'


def test_shards_are_taken_over_with_their_routers_and_noted_without(file: Write) -> None:
    imported, _ = _read(file(SHARDED + ROUTER))
    assert [one.shard for one in imported.machines] == ["s1", "s2"]
    assert imported.connection == {"hosts": ["127.0.0.1:27117"]}
    imported, _ = _read(file(SHARDED))
    assert [one.shard for one in imported.machines] == ["", ""]
    assert imported.machines[0].notes[0] == "its shard is `s1`"


def test_the_machines_own_network_and_ports_in_variables(file: Write) -> None:
    text = """\
services:
  n1: {image: bitnami/redis-cluster, network_mode: host, environment: [REDIS_PORT_NUMBER=7001]}
  n2: {image: redis, command: redis-server /etc/r.conf, ports: ["7100:7100", "17100:17100"]}
  n3: {image: redis, command: [sh, -c, "redis-server --port 7003"], ports: ["8003:7003", "7004:9"]}
"""
    imported, _ = _read(file(text))
    assert addresses(imported) == {
        "shop-n1-1": "127.0.0.1:7001",
        "shop-n2-1": "127.0.0.1:7100",
        "shop-n3-1": "127.0.0.1:8003",
    }
    assert any("guess" in note for note in imported.machines[1].notes)


def test_a_server_that_reads_a_file_named_config_is_a_node(file: Write) -> None:
    text = "services: {m: {image: mongo, command: [mongod, --config, /etc/mongod.conf]}}\n"
    assert len(_read(file(text))[0].machines) == 1


def test_what_is_beside_the_file_is_read_as_compose_reads_it(file: Write) -> None:
    base = "services: {e: {image: 'quay.io/coreos/etcd:${V}', ports: ['${P:?set it}:2379']}}\n"
    path = file(
        "include: [more.yaml]\nservices: {e: {extends: {file: base.yaml, service: e}}}\n",
        base__yaml=base,
        more__yaml="services: {f: {image: quay.io/coreos/etcd, ports: ['2400:2379']}}\n",
        **{
            "docker-compose.override__yml": "services: {e: {container_name: own}}\n",
            "__env": "P=2390\nCOMPOSE_PROJECT_NAME=Acme Shop\n",
        },
    )
    project, containers, notes = compose.services(path)
    assert project == "acmeshop"
    imported, _ = read(Wanted(project, "x"), containers)
    assert addresses(imported) == {"own": "127.0.0.1:2390", "acmeshop-f-1": "127.0.0.1:2400"}
    assert any("docker-compose.override.yml" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}-${B:-b}-${C-c}-$$-$A", "1-b--$-1"),
        ("${A:+set}-${B:+set}-${B+set}", "set--set"),
        ("${NONE:-${A}}", "1"),
        ("${NONE}", ""),
    ],
)
def test_variables_are_filled_in(file: Write, text: str, filled: str) -> None:
    path = file(
        f"services: {{x: {{image: redis, container_name: '{text}.x'}}}}\n", __env="A=1\nB=\nC=\n"
    )
    _, (container,), notes = compose.services(path)
    assert container.container == f"{filled}.x"
    assert any("`NONE` has no value" in note for note in notes) is (text == "${NONE}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("services: [", ("not valid YAML",)),
        ("a: 1\n", ("no database",)),
        ("services: 3\n", ("no `services`",)),
        ("services: {w: {image: nginx}}\n", ("no database among w", "--service")),
        ("services: {w: {image: redis, ports: [x]}}\n", ("ports", "'x'", "7001:6379")),
        ("services: {w: {extends: {service: v}}}\n", ("no service `v`",)),
        ("services: {w: {image: redis, env_file: none.env}}\n", ("none.env",)),
        ("include: docker-compose.yml\nservices: {}\n", ("includes itself",)),
    ],
)
def test_what_is_not_a_compose_file_of_a_database_is_refused(
    file: Write, text: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError, match=naming(*words)):
        _read(file(text))


def test_a_service_is_named_where_nothing_says_what_it_has(file: Write) -> None:
    path = file("services: {store: {build: .}, web: {image: nginx}}\n")
    imported, database = _read(path, services=("store",), database="etcd")
    assert (len(imported.machines), database) == (1, "etcd")
    with pytest.raises(ConfigurationError, match=naming("`stone`", "store, web")):
        _read(path, services=("stone",), database="etcd")


@pytest.mark.parametrize("text", [REDIS, MONGO, CASSANDRA], ids=["redis", "mongo", "cassandra"])
def test_a_damaged_file_is_read_or_refused(text: str, file: Write) -> None:
    path = file(text, mongo__env="A=1\n")

    @fuzzed(40)
    @given(odd=damaged(text.encode()))
    def check(odd: bytes) -> None:
        path.write_bytes(odd)
        answers(lambda: _read(path)[1])

    check()


@pytest.mark.parametrize("text", [REDIS, MONGO, CASSANDRA], ids=["redis", "mongo", "cassandra"])
def test_other_values_than_wanted_are_read_or_refused(text: str, file: Write) -> None:
    path = file(text, mongo__env="A=1\n")
    plain = yaml.safe_load(text.replace("!override", ""))

    @fuzzed(60)
    @given(odd=changed(plain))
    def check(odd: Any) -> None:
        path.write_text(json.dumps(odd))
        answers(lambda: _read(path)[1])

    check()
