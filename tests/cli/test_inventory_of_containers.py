"""`brownout inventory from-compose` and `from-docker`, the latter by the real SDK of Docker."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Brownout
from tests.machine.docker.boxes import Box
from tests.machine.docker.recorded import RecordedEngine

from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.machine.docker import DockerSpec

SECRET = "hunter2-of-nobody"
#: Stands for the entry point of every image.
ENTRYPOINT = "#!/bin/sh\nexec sleep 60\n"


@pytest.fixture
def engine() -> Iterator[RecordedEngine]:
    directory = Path(tempfile.mkdtemp(prefix="brownout-"))
    entrypoint = directory / "docker-entrypoint.sh"
    entrypoint.write_text(ENTRYPOINT)
    entrypoint.chmod(0o700)
    running = RecordedEngine(directory)
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(directory)


def _box(engine: RecordedEngine, name: str, image: str, project: str = "shop", **more: Any) -> Box:
    """Start a container of an image as the engine describes it; `ip` is its own address."""
    labels = {"com.docker.compose.project": project, "com.docker.compose.service": name}
    published, address = more.pop("published", {}), more.pop("ip", "")
    box = engine.add(
        f"{project}-{name}-1",
        [str(Path(engine.address.removeprefix("unix://")).with_name("docker-entrypoint.sh"))],
        config={
            "Image": image,
            "Env": [f"{key}={value}" for key, value in more.pop("env", {}).items()],
            "Labels": labels,
        },
        network={
            "Networks": {f"{project}_default": {"IPAddress": address}},
            "Ports": {
                f"{port}/tcp": at and [{"HostIp": "0.0.0.0", "HostPort": str(at)}]
                for port, at in published.items()
            },
        },
        **more,
    )
    engine.start(box)
    return box


def _parsed(text: str) -> Cluster:
    return inventory.parse(yaml.safe_load(text), Path("x.yaml"))


def test_running_containers_become_an_inventory_that_reaches_them(
    brownout: Brownout, engine: RecordedEngine, home: Path
) -> None:
    image, env = "bitnami/redis-cluster:7.2", {"REDIS_PASSWORD": SECRET}
    volume = {"Type": "volume", "Name": "r2", "Destination": "/bitnami/redis/data"}
    _box(engine, "r1", image, env=env, published={6379: 7001, 16379: None})
    _box(engine, "r10", image, env=env, published={6379: None}, ip="172.20.0.10")
    _box(engine, "r2", image, env=env, published={6379: 7002}, mounts=[volume])
    _box(engine, "redis-exporter", "oliver006/redis_exporter", published={9121: 9121})
    _box(engine, "other", "mongo:7", project="else", published={27017: 27017})
    told = brownout(
        "inventory", "from-docker", "--engine", engine.address, "--project", "shop", "-o", "s.yaml"
    )
    assert told.code == 0, told.err
    text = (home / "s.yaml").read_text()
    assert SECRET not in text + told.out + told.err
    cluster = _parsed(text)
    assert (cluster.name, cluster.database) == ("shop", "redis")
    assert {node.name: node.address for node in cluster.nodes} == {
        "shop-r1-1": "127.0.0.1:7001",
        "shop-r2-1": "127.0.0.1:7002",
        "shop-r10-1": "172.20.0.10:6379",
    }
    (host, *_) = [node.host for node in cluster.nodes]
    assert isinstance(host, DockerSpec)
    assert (host.engine, host.container) == (engine.address, "shop-r1-1")
    assert "# shop-r1-1: /bitnami/redis/data" in text
    assert "# shop-r2-1: /bitnami/redis/data" not in text
    assert brownout("check", "s.yaml").code == 0


def test_containers_of_two_databases_want_a_choice(
    brownout: Brownout, engine: RecordedEngine
) -> None:
    _box(engine, "etcd1", "quay.io/coreos/etcd:v3.5", published={2379: 2379})
    _box(engine, "m1", "mongo:7", published={27017: 27017})
    told = brownout("inventory", "from-docker", "--engine", engine.address)
    assert told.code == 64
    assert "etcd (etcd1) and mongodb (m1); say which by --database" in told.err
    told = brownout("inventory", "from-docker", "--engine", engine.address, "--service", "m1")
    assert _parsed(told.out).nodes[0].address == "127.0.0.1:27017"


def test_an_engine_that_is_not_there_or_not_encrypted_is_refused(
    brownout: Brownout, tmp_path: Path
) -> None:
    told = brownout("inventory", "from-docker", "--engine", f"unix://{tmp_path}/none.sock")
    assert told.code != 0
    assert "there is no such socket" in told.err
    told = brownout("inventory", "from-docker", "--engine", "tcp://db1.example.com:2376")
    assert told.code == 64
    assert "wants tls" in told.err
    told = brownout("inventory", "from-docker", "--engine", "db1")
    assert told.code == 64


def test_a_compose_file_becomes_an_inventory_that_is_right(brownout: Brownout, home: Path) -> None:
    (home / "compose.yaml").write_text(
        "name: shop\nservices:\n"
        f"  e1: {{image: quay.io/coreos/etcd, environment: {{ETCD_ROOT_PASSWORD: {SECRET}}}, "
        "command: etcd --data-dir=/d, ports: ['2379:2379'], volumes: ['e1:/d']}\n"
        "  e2: {image: quay.io/coreos/etcd, ports: ['2380:2379'], profiles: [more]}\n"
    )
    told = brownout("inventory", "from-compose", "compose.yaml", "-o", "shop.yaml")
    assert (told.code, told.out) == (0, "shop.yaml\n"), told.err
    assert brownout("check", "shop.yaml").code == 0
    text = Path("shop.yaml").read_text()
    assert SECRET not in text
    assert "Left out: e2 (profile more)" in text
    told = brownout("inventory", "from-compose", ".", "--profile", "more")
    assert [node.address for node in _parsed(told.out).nodes] == [
        "127.0.0.1:2379",
        "127.0.0.1:2380",
    ]


def test_a_folder_without_a_compose_file_is_refused(brownout: Brownout, home: Path) -> None:
    told = brownout("inventory", "from-compose", ".")
    assert told.code == 64
    assert "compose.yaml" in told.err


@pytest.mark.parametrize("name", ["aerospike", "mongodb"])
def test_the_compose_files_that_come_with_it_give_the_nodes_of_their_inventories(
    name: str, brownout: Brownout
) -> None:
    root = Path(__file__).parents[2]
    shipped = inventory.declared(root / "infra" / "clusters" / f"docker-{name}.yaml")
    told = brownout("inventory", "from-compose", root / "infra" / "docker" / f"{name}.yaml")
    assert told.code == 0, told.err
    assert {(node.address, getattr(node.host, "container", "")) for node in shipped.nodes} == {
        (node.address, getattr(node.host, "container", "")) for node in _parsed(told.out).nodes
    }
