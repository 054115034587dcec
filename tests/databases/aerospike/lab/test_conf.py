"""The configuration that both the real server and the stand-in read."""

import subprocess
from pathlib import Path

from brownout.databases.aerospike.lab.conf import Ports, configuration
from brownout.databases.aerospike.lab.server import find_server
from brownout.databases.aerospike.lab.settings import AerospikeLab
from brownout.databases.aerospike.storage import files_in

SPEC = AerospikeLab(engine="aerospike", heartbeat_ms=150, heartbeat_timeout=7, device_mb=64)
PORTS = [Ports("127.0.0.1", 3000 + n, 3001 + n, 3002 + n, 3003 + n) for n in (0, 10, 20)]
HERE = Path("/home")


def text_of(number: int, spec: AerospikeLab = SPEC) -> str:
    home = HERE / f"n{number}"
    return configuration(spec, "lab", number, PORTS, home, home / "data")


def test_a_node_knows_every_other_one_and_not_itself() -> None:
    text = text_of(2)

    assert "node-id A2" in text
    assert "mesh-seed-address-port 127.0.0.1 3002" in text
    assert "mesh-seed-address-port 127.0.0.1 3022" in text
    assert "mesh-seed-address-port 127.0.0.1 3012" not in text
    assert "interval 150" in text
    assert "timeout 7" in text


def test_a_spare_knows_the_members_and_nobody_knows_it() -> None:
    spec = SPEC.model_copy(update={"members": 2, "spares": 1})
    texts = [text_of(number, spec) for number in (1, 2, 3)]

    seeds = [text.count("mesh-seed-address-port 127.0.0.1 3022") for text in texts]
    assert seeds == [0, 0, 0]
    assert "mesh-seed-address-port 127.0.0.1 3002" in texts[2]
    assert "mesh-seed-address-port 127.0.0.1 3012" in texts[2]


def test_racks_go_round_robin_over_members_and_spares() -> None:
    spec = SPEC.model_copy(update={"members": 2, "spares": 1, "racks": 2})
    texts = [text_of(number, spec) for number in (1, 2, 3)]

    assert [f"rack-id {rack}\n" in text for text, rack in zip(texts, (1, 2, 1), strict=True)] == [
        True,
        True,
        True,
    ]
    assert "rack-id" not in text_of(1)


def test_contexts_are_closed_and_indented() -> None:
    text = text_of(1)

    assert text.count("{") == text.count("}")
    assert "\n\tstorage-engine device {\n\t\tfile /home/n1/data/test.dat\n" in text


def test_a_node_with_a_network_and_a_file_system_of_its_own_listens_and_stores_there() -> None:
    ports = [Ports(f"198.18.7.{n}", 3000, 3001, 3002, 3003) for n in (2, 3)]
    text = configuration(SPEC, "lab", 1, ports, HERE / "n1", HERE / "n1" / "disk" / "data")

    assert "mesh-seed-address-port 198.18.7.3 3002" in text
    assert text.count("\taddress 198.18.7.2\n") == 4
    assert "access-address 198.18.7.2\n" in text
    assert files_in(text) == [HERE / "n1" / "disk" / "data" / "test.dat"]


def test_the_storage_file_is_found_again() -> None:
    text = text_of(1)

    assert files_in(text) == [Path("/home/n1/data/test.dat")]


def test_the_stand_in_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    file = tmp_path / "aerospike.conf"
    text = configuration(SPEC, "lab", 1, PORTS, tmp_path, tmp_path / "data")
    file.write_text(text.replace("replication-factor 2", "replicaton-factor 2"), encoding="utf-8")
    command = find_server().command(SPEC, file)

    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert done.returncode == 1
    assert "`replicaton-factor` is not a setting that the stand-in knows" in done.stderr
