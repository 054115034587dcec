"""The compose files say what the inventories say, and what their servers read is right."""

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from brownout.databases.aerospike.storage import devices_in, files_in
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb.storage import path_in_file
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, Node
from brownout.machine.docker import DockerSpec

ROOT = Path(__file__).resolve().parents[3]
DOCKER = ROOT / "infra" / "docker"
NAMES = ("aerospike", "mongodb")
EVERY = (*NAMES, "observability")


def _compose(name: str) -> dict[str, Any]:
    """The file with its variables at their defaults, and at `/given` where they have none."""
    text = (DOCKER / f"{name}.yaml").read_text()
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)
    data: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:\?[^}]*\}", "/given", text))
    return data


def _cluster(name: str) -> Cluster:
    return inventory.declared(ROOT / "infra" / "clusters" / f"docker-{name}.yaml")


def _spec(node: Node) -> DockerSpec:
    assert isinstance(node.host, DockerSpec)
    return node.host


def _services(name: str) -> dict[str, dict[str, Any]]:
    """The services that are nodes, by their name."""
    return {n: s for n, s in _compose(name)["services"].items() if "container_name" in s}


@pytest.mark.parametrize("name", EVERY)
def test_a_compose_file_is_one_by_its_specification(name: str) -> None:
    # Its own YAML reader does not merge `<<`, as compose does.
    specification = pytest.importorskip("compose_spec", reason="comes as a wheel for x86-64 only")
    read = specification.PyCompose.from_json
    data = _compose(name)
    assert set(read(json.dumps(data)).service_names()) == set(data["services"])
    next(iter(data["services"].values()))["restart"] = "sometimes"
    with pytest.raises(ValueError, match="unknown variant `sometimes`"):
        read(json.dumps(data))


@pytest.mark.parametrize("name", EVERY)
def test_what_a_compose_file_refers_to_is_there(name: str) -> None:
    data = _compose(name)
    for service in data["services"].values():
        for config in service.get("configs", []):
            assert config["source"] in data["configs"]
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            if source.startswith("."):
                assert (DOCKER / source).exists()
            elif not source.startswith("/"):
                assert source in data["volumes"]
        assert set(service.get("depends_on", [])) <= set(data["services"])
    for config in data.get("configs", {}).values():
        assert (DOCKER / config["file"]).is_file()


@pytest.mark.parametrize("name", EVERY)
def test_an_image_is_pinned_and_names_no_registry(name: str) -> None:
    for service in _compose(name)["services"].values():
        repository, _, tag = service["image"].rpartition(":")
        assert re.fullmatch(r"v?\d+\.\d+(\.\d+)+", tag)
        assert "." not in repository


@pytest.mark.parametrize("name", NAMES)
def test_every_node_of_the_inventory_is_a_service_and_every_service_a_node(name: str) -> None:
    cluster, services = _cluster(name), _services(name)
    assert {n.name: _spec(n).container for n in cluster.every} == {
        n: s["container_name"] for n, s in services.items()
    }
    assert [n.name for n in cluster.spares] == [n for n, s in services.items() if "profiles" in s]
    assert all(_spec(n).engine == "unix:///var/run/docker.sock" for n in cluster.every)


@pytest.mark.parametrize("name", NAMES)
def test_a_node_has_its_volumes_for_itself_and_stays_down_when_stopped(name: str) -> None:
    volumes = [v.partition(":")[0] for s in _services(name).values() for v in s["volumes"]]
    assert len(set(volumes)) == len(volumes)
    assert {s["restart"] for s in _services(name).values()} == {"no"}


def test_an_aerospike_node_is_reached_where_it_says() -> None:
    for node in _cluster("aerospike").nodes:
        service = _services("aerospike")[node.name]
        port = service["environment"]["SERVICE_PORT"]
        assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
        assert node.address == f"127.0.0.1:{port}"


def _rendered(service: dict[str, Any], target: Path) -> str:
    """What the container's own command makes of the template, by that very command."""
    (command,) = service["command"]
    (config,) = service["configs"]
    line = command.replace("$$", "$").partition("&& exec")[0]
    line = line.replace(config["target"], str(DOCKER / "aerospike.conf.in"))
    line = line.replace("/tmp/aerospike.conf", str(target))
    subprocess.run(["/bin/sh", "-c", line], env=service["environment"], check=True)
    return target.read_text()


def test_what_an_aerospike_node_stores_lies_on_its_volume(tmp_path: Path) -> None:
    for name, service in _services("aerospike").items():
        text = _rendered(service, tmp_path / name)
        (volume,) = service["volumes"]
        assert [str(path.parent) for path in files_in(text)] == [volume.partition(":")[2]]
        assert devices_in(text) == []
        assert "@" not in text.partition("\n")[2]
        seeds = re.findall(r"mesh-seed-address-port (\w+) 3002", text)
        assert seeds == list(_services("aerospike"))


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The lab's stand-in with the configuration of a1, on ports and paths of this test."""
    service, fabric, heartbeat = reserve_ports(3, tmp_path)
    text = _rendered(_services("aerospike")["a1"], tmp_path / "aerospike.conf")
    changes = [("address any", "address 127.0.0.1"), ("3100", service), ("port 3001", fabric),
               ("port 3002", heartbeat), ("/opt/aerospike/data", tmp_path),
               ("/var/log/aerospike", tmp_path), ("filesize 4G", "filesize 64M")]  # fmt: skip
    for found, wanted in changes:
        assert str(found) in text
        word = found.rpartition(" ")[0]
        new = f"{word} {wanted}" if isinstance(wanted, int) and word else str(wanted)
        text = re.sub(rf"{re.escape(found)}(?!\d)", new, text)  # not 3001 in a port of 30012
    path = tmp_path / "changed.conf"
    path.write_text(re.sub(r"mesh-seed.*\n", "", text))
    binary = str(files("brownout") / "bin" / "asd-stand-in")
    process = subprocess.Popen(
        [binary, "-config-file", str(path), "-edition", "community"], stderr=subprocess.PIPE
    )
    yield process, service
    process.kill()
    process.communicate()


def test_a_server_accepts_the_aerospike_configuration(
    stand_in: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, port = stand_in
    until = time.monotonic() + 20
    while True:
        assert process.poll() is None, process.communicate()[1]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.02)


def test_a_mongod_is_reached_where_it_says_and_stores_on_its_volume() -> None:
    configured = path_in_file((DOCKER / "mongod.conf").read_text())
    for node in _cluster("mongodb").every:
        service = _services("mongodb")[node.name]
        command = service["command"]
        assert command[:3] == ["mongod", "--config", str(_spec(node).config_file)]
        assert node.address == f"127.0.0.1:{command[command.index('--port') + 1]}"
        (config,) = service["configs"]
        assert config["target"] == str(_spec(node).config_file)
        assert f"{node.name}-data:{configured}" in service["volumes"]
        assert service["network_mode"] == "host"


def test_the_replica_set_is_made_of_the_inventorys_members() -> None:
    script = (DOCKER / "initiate.js").read_text()
    cluster = _cluster("mongodb")
    assert re.findall(r'host: "(.+?)"', script) == [node.address for node in cluster.nodes]
    configured = yaml.safe_load((DOCKER / "mongod.conf").read_text())
    assert re.findall(r'_id: "(.+?)"', script) == [cluster.connection.replica_set]
    assert configured["replication"]["replSetName"] == cluster.connection.replica_set
