"""What is stored is garbled behind the driver's back, under load: it is lost, and found to be."""

import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import aerospike
import psycopg
import pymongo
import pytest
from psycopg.conninfo import make_conninfo
from pymongo import WriteConcern
from pymongo.collection import Collection
from tests.waiting import await_true

from brownout.databases.access import Access
from brownout.databases.adapter import adapter_for
from brownout.databases.etcd.link import Link as EtcdLink
from brownout.databases.postgresql.access import access
from brownout.databases.redis.link import Link
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

from .conftest import Running

pytestmark = pytest.mark.live

DATA = 500
GENTLY = "streams.lookups.rate=40,streams.orders.rate=40,streams.orders.ledger_keys=500"
GENTLY += f",data.keys={DATA}"
GARBLED = [f"k{number:010}" for number in range(40)]


def garble_mongodb(cluster: Cluster) -> None:
    """Flip a bit of each value, acknowledged by a majority."""
    client: pymongo.MongoClient[dict[str, Any]]
    with pymongo.MongoClient([n.address for n in cluster.nodes], replicaSet=cluster.name) as client:
        majority = WriteConcern("majority")
        data: Collection[dict[str, Any]]
        data = client["brownout"]["data"].with_options(write_concern=majority)
        record: dict[str, Any]
        for record in data.find({"_id": {"$in": GARBLED}}):
            value = bytes([record["v"][0] ^ 1]) + record["v"][1:]
            data.update_one({"_id": record["_id"]}, {"$set": {"v": value}})


def garble_redis(cluster: Cluster) -> None:
    """Overwrite records on the masters that have them."""
    garbled = set()
    for node in cluster.nodes:
        with closing(Link(node, Access(), 5.0)) as link:
            if "role:master" not in str(link.ask("INFO", "replication")):
                continue
            keys = link.ask("KEYS", "brownout/data/*")
            assert isinstance(keys, list)
            for name in keys:
                if str(name).rpartition("/")[2] in GARBLED:
                    link.ask("SET", str(name), "garbled")
                    garbled.add(name)
    assert len(garbled) == len(GARBLED)


def garble_postgresql(cluster: Cluster) -> None:
    """Change the value of each record on the primary."""
    with closing(adapter_for(cluster)) as adapter:
        (node,) = adapter.targets("primary", 1)
    host, _, port = node.address.rpartition(":")
    where = make_conninfo(host=host, port=port, **access(cluster).conninfo)
    with psycopg.connect(where, autocommit=True) as connection:
        other = "set_byte(value, 0, 255 - get_byte(value, 0))"
        sql = f"UPDATE brownout.data SET value = {other} WHERE id = ANY(%s)"
        assert connection.execute(sql, [GARBLED]).rowcount == len(GARBLED)


def garble_aerospike(cluster: Cluster) -> None:
    """Change the value of each record."""
    host, _, port = cluster.nodes[0].address.rpartition(":")
    client = aerospike.client({"hosts": [(host, int(port))]}).connect()
    for name in GARBLED:
        key = ("test", "brownout-data", name)
        value = client.get(key)[2]["v"]
        client.put(key, {"v": bytearray([value[0] ^ 1, *value[1:]])})
    client.close()


def garble_etcd(cluster: Cluster) -> None:
    """Write other values over the records, as any client may."""
    with closing(EtcdLink(cluster.nodes[0], Access(), 5.0)) as link:
        for name in GARBLED:
            key = b64encode(f"brownout/data/{name}".encode()).decode()
            link.ask("kv/put", key=key, value=b64encode(b"garbled").decode())


MATRIX = pytest.mark.matrix  # in CI the drivers' own tests do it, on every database


@pytest.mark.parametrize(
    ("running_on", "garble"),
    [
        pytest.param("running", garble_mongodb, id="mongodb"),
        pytest.param("running_redis", garble_redis, id="redis", marks=MATRIX),
        pytest.param("running_postgresql", garble_postgresql, id="postgresql", marks=MATRIX),
        pytest.param("running_etcd", garble_etcd, id="etcd", marks=MATRIX),
        pytest.param("running_aerospike", garble_aerospike, id="aerospike", marks=MATRIX),
    ],
)
def test_garbled_records_are_lost_and_the_next_run_loads_them_anew(
    running_on: str, garble: Callable[[Cluster], None], request: pytest.FixtureRequest
) -> None:
    running: Callable[..., Running] = request.getfixturevalue(running_on)
    load = running(GENTLY)
    garble(load.cluster)
    load.until("an answer fails its checksum", lambda: load.caused("integrity"))
    load.finish()
    ledger = load.ledger()
    assert load.causes("lookups")["integrity"] > 0
    assert (ledger.state, ledger.lost, ledger.data_lost) == ("lost", len(GARBLED), len(GARBLED))
    assert (ledger.corrupt, ledger.data_corrupt) == (len(GARBLED), len(GARBLED))
    assert (ledger.data_read, ledger.unread) == (DATA, 0)
    assert (ledger.garbled_answers or 0) >= load.causes("lookups")["integrity"]
    again = running(GENTLY)
    again.finish()
    assert (again.ledger().state, again.ledger().data_corrupt) == ("clean", 0)
    assert again.ledger().garbled_answers is None


def garble_on_disk(database: Path) -> set[str]:
    """Give records another checksum in the file of one member that is down; return which."""
    content = bytearray(database.read_bytes())
    garbled = set()
    head = rb"brownout/data/(k\d{10}).{1,40}?r[\w.-]+\0.{8}"
    for record in re.finditer(head, bytes(content), re.DOTALL):
        if (name := record[1].decode()) in GARBLED:
            content[record.end()] ^= 1
            garbled.add(name)
    database.write_bytes(content)
    return garbled


@MATRIX
def test_records_that_one_member_alone_garbles_are_lost(
    running_etcd: Callable[..., Running],
) -> None:
    load = running_etcd(GENTLY)
    node = next(n for n in load.cluster.nodes if n != load.primary()[0])
    host = host_for(node)
    host.stop("kill")
    assert node.host is not None
    assert node.host.config_file is not None
    database = node.host.config_file.parent / "data" / "member" / "snap" / "db"
    assert garble_on_disk(database) == set(GARBLED)
    host.start()
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
    load.until("answers fail their checksum", lambda: load.caused("integrity"))
    began = load.lives[-1]["t"]
    load.until("more of them do", lambda: load.lives[-1]["t"] > began + 10)
    load.finish()
    ledger = load.ledger()
    garbled = load.causes("lookups")["integrity"]
    assert garbled > 0
    assert (ledger.state, ledger.lost) == ("lost", ledger.corrupt)
    assert 0 < ledger.lost <= len(GARBLED)
    assert (ledger.garbled_answers or 0) >= garbled
