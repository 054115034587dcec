"""The configuration that both the real server and the stand-in read."""

import subprocess
from pathlib import Path

from brownout.databases.aerospike.lab.conf import Ports, configuration
from brownout.databases.aerospike.lab.server import find_server
from brownout.databases.aerospike.lab.settings import AerospikeLab
from brownout.databases.aerospike.storage import files_in

SPEC = AerospikeLab(engine="aerospike", heartbeat_ms=150, heartbeat_timeout=7, device_mb=64)
PORTS = [Ports(3000 + n, 3001 + n, 3002 + n, 3003 + n) for n in (0, 10, 20)]


def test_a_node_knows_every_other_one_and_not_itself() -> None:
    text = configuration(SPEC, "lab", 2, PORTS, Path("/home/n2"))

    assert "node-id A2" in text
    assert "mesh-seed-address-port 127.0.0.1 3002" in text
    assert "mesh-seed-address-port 127.0.0.1 3022" in text
    assert "mesh-seed-address-port 127.0.0.1 3012" not in text
    assert "interval 150" in text
    assert "timeout 7" in text


def test_a_spare_knows_the_members_and_nobody_knows_it() -> None:
    spec = SPEC.model_copy(update={"members": 2, "spares": 1})
    texts = [configuration(spec, "lab", n, PORTS, Path(f"/home/n{n}")) for n in (1, 2, 3)]

    seeds = [text.count("mesh-seed-address-port 127.0.0.1 3022") for text in texts]
    assert seeds == [0, 0, 0]
    assert "mesh-seed-address-port 127.0.0.1 3002" in texts[2]
    assert "mesh-seed-address-port 127.0.0.1 3012" in texts[2]


def test_racks_go_round_robin_over_members_and_spares() -> None:
    spec = SPEC.model_copy(update={"members": 2, "spares": 1, "racks": 2})
    texts = [configuration(spec, "lab", n, PORTS, Path(f"/home/n{n}")) for n in (1, 2, 3)]

    assert [f"rack-id {rack}\n" in text for text, rack in zip(texts, (1, 2, 1), strict=True)] == [
        True,
        True,
        True,
    ]
    assert "rack-id" not in configuration(SPEC, "lab", 1, PORTS, Path("/home/n1"))


def test_contexts_are_closed_and_indented() -> None:
    text = configuration(SPEC, "lab", 1, PORTS, Path("/home/n1"))

    assert text.count("{") == text.count("}")
    assert "\n\tstorage-engine device {\n\t\tfile /home/n1/data/test.dat\n" in text


def test_the_storage_file_is_found_again() -> None:
    text = configuration(SPEC, "lab", 1, PORTS, Path("/home/n1"))

    assert files_in(text) == [Path("/home/n1/data/test.dat")]


def test_the_stand_in_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    file = tmp_path / "aerospike.conf"
    text = configuration(SPEC, "lab", 1, PORTS, tmp_path)
    file.write_text(text.replace("replication-factor 2", "replicaton-factor 2"), encoding="utf-8")
    command = find_server().command(SPEC, file)

    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert done.returncode == 1
    assert "`replicaton-factor` is not a setting that the stand-in knows" in done.stderr
