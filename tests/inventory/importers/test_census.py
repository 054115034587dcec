"""Inventories of living clusters, by what one of their nodes says."""

import pytest
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.databases.aerospike.census import peers_in
from brownout.inventory.importers.census import counted, database_at
from brownout.inventory.importers.machine import Machine


def test_the_port_says_which_database_listens() -> None:
    assert database_at("db1:27018") == "mongodb"
    assert database_at("[::1]:8008") == "postgresql"
    with pytest.raises(ConfigurationError, match=naming("db1:7000", "--database", "redis")):
        database_at("db1:7000")


@pytest.mark.parametrize(
    ("machines", "names"),
    [
        ([Machine("", "10.0.0.1", database_port=1), Machine("", "10.0.0.2")], "10.0.0.1 10.0.0.2"),
        ([Machine("", "h", database_port=1), Machine("", "h", database_port=2)], "h-1 h-2"),
        ([Machine("", "fd00::1"), Machine("pg_1", "h"), Machine("a b", "g")], "fd00-1 pg_1 g"),
    ],
)
def test_nodes_without_names_are_called_by_their_addresses(
    machines: list[Machine], names: str
) -> None:
    assert " ".join(one.name for one in counted("c", "h:1", machines).machines) == names


@pytest.mark.parametrize(
    ("answer", "addresses"),
    [
        ("7,3000,[[BB9,,[10.0.0.2:3100]],[BB8,,[10.0.0.3]]]", "10.0.0.2:3100 10.0.0.3:3000"),
        ("7,3000,[[BB9,db,[10.0.0.2,172.17.0.1:3100]]]", "10.0.0.2:3000"),
        ("7,3000,[[BB9,,[[fd00::2]:3100]]]", "[fd00::2]:3100"),
        ("7,3000,[]", ""),
        ("", ""),
    ],
)
def test_peers_of_aerospike_are_read(answer: str, addresses: str) -> None:
    assert " ".join(peers_in(answer).values()) == addresses
