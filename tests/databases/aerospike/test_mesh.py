"""Whom a node knows, of its own words."""

from pathlib import Path

import pytest

from brownout.base.errors import Refused
from brownout.databases.aerospike.mesh import (
    ALUMNI,
    NETWORK,
    PEERS,
    Endpoint,
    endpoint_of,
    peers,
    seeds,
    strangers,
)
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Node, ProcessSpec

SEEDS = (
    "heartbeat.port=3002;heartbeat.mesh-seed-address-port=127.0.0.1:3012;"
    "heartbeat.tls-mesh-seed-address-port=db3:3022;heartbeat.interval=150"
)
TWO = "8,3000,[[A2,,[127.0.0.1:3010]],[BB9,,[10.0.0.3,10.0.0.4:3020]]]"


def test_seeds_peers_and_who_is_only_remembered() -> None:
    view = View("n1", "", {NETWORK: SEEDS, PEERS: "7,3000,[[A2,,[127.0.0.1]]]", ALUMNI: TWO})

    assert seeds(view) == ["127.0.0.1:3012", "db3:3022"]
    assert peers(view) == {"A2"}
    assert strangers(view) == {"BB9"}


def test_a_node_that_says_nothing_knows_nobody() -> None:
    assert (seeds(View("n1", "")), peers(View("n1", "")), strangers(View("n1", ""))) == (
        [],
        set(),
        set(),
    )


def test_a_seed_is_the_nodes_by_host_and_port() -> None:
    where = Endpoint(frozenset({"db3", "10.0.0.3", "::1"}), 3002, "db3")

    found = where.named_by(["db3:3002", "10.0.0.3:3002", "[::1]:3002", "db3:3012", "db4:3002"])

    assert found == ["db3:3002", "10.0.0.3:3002", "[::1]:3002"]


def test_a_node_on_a_machine_that_others_are_on_gets_a_name_of_its_own() -> None:
    where = Endpoint(frozenset({"127.0.0.1", "localhost"}), 3052, "127.0.0.1")

    assert where.name_beside([]) == "127.0.0.1"
    assert where.name_beside(["127.0.0.1:3012"]) == "localhost"
    assert where.name_beside(["127.0.0.1:3012", "localhost:3022"]) == "127.0.0.1"


def node(tmp_path: Path, text: str | None) -> Node:
    file = tmp_path / "aerospike.conf"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    host = ProcessSpec(pid_file=tmp_path / "pid", command=("asd",), config_file=file)
    return Node(name="n5", address="127.0.0.1:3040", host=host)


def test_a_node_listens_where_its_configuration_says(tmp_path: Path) -> None:
    found = endpoint_of(node(tmp_path, "network {\nheartbeat {\naddress any\nport 3042\n}\n}\n"))

    assert (found.host, found.port) == ("127.0.0.1", 3042)
    assert {"127.0.0.1", "localhost"} <= found.hosts


@pytest.mark.parametrize("text", [None, "network {\n}\n"])
def test_where_it_does_not_say_the_node_is_named(tmp_path: Path, text: str | None) -> None:
    with pytest.raises(Refused, match="node `n5`"):
        endpoint_of(node(tmp_path, text))
