"""What the ledger says of lost copies, held against partition maps and digests; Aerospike."""

import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import aerospike
import pytest
from tests.waiting import await_true

from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.info import ask
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

from .conftest import Running

pytestmark = pytest.mark.live

#: Few writes on many keys, so that some were never touched and others often.
WORKLOAD = """
title: registers and counters
data: {keys: 5000, value_bytes: 64}
streams:
  - {name: orders, mix: {update: 80, operate: 20}, rate: 100, deadline_s: 1, verified: true,
     ledger_keys: 1500, keys: {distribution: zipf}}
  - {name: hits, mix: {increment: 100}, rate: 60, deadline_s: 1, verified: true, ledger_keys: 1000}
"""
SETS = {"orders": "brownout-ledger", "hits": "brownout-ledger", "": "brownout-data"}


@pytest.fixture
def load(lab_aerospike: Cluster, tmp_path: Path) -> Iterator[Running]:
    workload = tmp_path / "two-kinds.yaml"
    workload.write_text(WORKLOAD)
    running = Running(lab_aerospike, tmp_path / "run", "", str(workload))
    running.start()
    yield running
    running.close()


def owners(cluster: Cluster) -> list[set[str]]:
    """The names of the nodes that have a copy of each partition, by each node's own map."""
    found: list[set[str]] = [set() for _ in range(4096)]
    for node in cluster.nodes:
        (answer,) = ask(node.address, ["replicas"], 5).values()
        for text in answer.removeprefix("test:").rstrip(";").split(",")[2:]:
            raw = b64decode(text)
            for partition in range(4096):
                if raw[partition >> 3] & (0x80 >> (partition & 7)):
                    found[partition].add(node.name)
    return found


def without_a_copy(keys: dict[str, str], copies: list[set[str]], wiped: set[str]) -> set[str]:
    """Which of `keys`, each with its stream, had all their copies on nodes that were wiped."""
    lost = set()
    for key, stream in keys.items():
        digest = aerospike.calc_digest("test", SETS[stream], key)
        if copies[int.from_bytes(digest[:2], "little") & 4095] <= wiped:
            lost.add(key)
    return lost


def wipe(load: Running, names: set[str]) -> None:
    """Kill nodes at the same moment, empty them, and have them back."""
    nodes = [load.cluster.node(name) for name in names]
    hosts = [host_for(node) for node in nodes]
    kills = [threading.Thread(target=host.stop, args=("kill",)) for host in hosts]
    for kill in kills:
        kill.start()
    for kill in kills:
        kill.join()
    with AerospikeAdapter(load.cluster) as adapter:
        for node, host in zip(nodes, hosts, strict=True):
            host.wipe(adapter.data_directories(node))
            host.start()


def reported(load: Running) -> tuple[Ledger, dict[str, str], set[str]]:
    """What the ledger comes to, the keys that were loaded, and those that it reports lost."""
    path = load.directory / "ledger.ndjson"
    lines = list(read_ledger_lines(path))
    loaded = {line["key"]: line["stream"] for line in lines if line.get("loaded")}
    gone = {line["record"] for line in lines if "record" in line}
    reads = {line["read"]: line for line in lines if "read" in line}
    for line in lines:
        if "key" in line:
            alone = classify([line, reads[line["key"]], {"end": True, "keys": 1}])
            gone |= {line["key"]} if alone.lost else set()
    data = {f"k{number:010}": "" for number in range(5000)}
    return classify(lines), loaded | data, gone


def run(load: Running, wiped: set[str], seconds: float) -> tuple[Ledger, dict[str, str], set[str]]:
    """Wipe nodes under load, go on for so long after it is well again, and read it all back."""
    load.until("many keys are written", lambda: load.lives[-1]["t"] > 4)
    wipe(load, wiped)
    with AerospikeAdapter(load.cluster) as adapter:
        await_true(lambda: adapter.stable("redundant").reached, "all copies are there")
    load.until("the load is well again", load.well)
    until = load.lives[-1]["t"] + seconds
    load.until("writes went on", lambda: load.lives[-1]["t"] > until, within_s=seconds + 60)
    load.finish()
    return reported(load)


@pytest.mark.parametrize(
    "seconds", [3, pytest.param(300, marks=[pytest.mark.matrix, pytest.mark.timeout(600)])]
)
def test_two_nodes_wiped_at_once_lose_just_what_had_no_other_copy(
    load: Running, seconds: float
) -> None:
    copies = owners(load.cluster)
    ledger, keys, gone = run(load, {"n2", "n3"}, seconds)
    truth = without_a_copy(keys, copies, {"n2", "n3"})
    assert truth & set(load_keys(load, "orders"))
    assert truth & set(load_keys(load, "hits"))
    assert gone == truth
    assert (ledger.state, ledger.lost_keys) == ("lost", len(truth))
    assert ledger.unexpected == ledger.corrupt == ledger.unread == 0
    assert ledger.refused_keys > 0  # some were found out by a write, others only at the end


def load_keys(load: Running, stream: str) -> list[str]:
    """The keys of a stream that the load began with."""
    lines = (load.directory / "ledger.ndjson").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [line["key"] for line in found if line.get("stream") == stream and line.get("loaded")]


@pytest.mark.matrix  # in CI a run that wipes one node has a clean ledger (tests/experiments)
def test_one_wiped_node_loses_nothing(load: Running) -> None:
    ledger, _, gone = run(load, {"n2"}, 3)
    assert (ledger.state, gone) == ("clean", set())
    assert ledger.data_keys == ledger.data_read == 5000
    assert ledger.in_doubt_applied is not None
    assert ledger.in_doubt_absent is not None
    assert ledger.in_doubt_applied + ledger.in_doubt_absent <= ledger.in_doubt
