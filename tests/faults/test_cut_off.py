"""A node is cut off from what its cluster is coordinated by, and from nothing else."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.waiting import await_true, await_whole

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter, adapter_for
from brownout.faults import registry
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.infra import lab
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import cut_off, network
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events

#: Whether an address takes connections, from where this runs.
ASK = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 0.5).close()
    print("open")
except TimeoutError:
    print("time-out")
"""


@pytest.fixture
def cluster(lab_partition: Cluster) -> Iterator[Cluster]:
    """A set that says it is coordinated by a server of this machine."""
    host = lab_partition.nodes[0].address.rpartition(".")[0] + ".1"
    with contextlib.closing(socket.create_server((host, 0))) as listener:
        address = f"{host}:{listener.getsockname()[1]}"
        yield lab_partition.model_copy(update={"coordination": (address,)})


def seen_from(node: Node, address: str) -> str:
    assert isinstance(node.host, ProcessSpec)
    enter = network.enter(node.host.network_namespace)
    host, _, port = address.rpartition(":")
    command = [*enter, sys.executable, "-c", ASK, host, port]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_node_does_not_reach_its_coordination_and_reaches_everything_else(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node, other = cluster.nodes[:2]
    (address,) = cluster.coordination
    before = {member.node: member.role for member in adapter.members()}
    evidence = faults.run("cut_off", node, undo_after_s=60)["evidence"]
    assert evidence["from"] == [address.partition(":")[0]]
    assert evidence["port"] == int(address.rpartition(":")[2])
    assert read_events(log)[0].arguments == {"from": [address]}
    assert seen_from(node, address) == "time-out"
    assert seen_from(other, address) == "open"
    assert seen_from(node, other.address) == "open"
    assert {member.node: member.role for member in adapter.members()} == before
    assert faults.put_back() == []
    assert seen_from(node, address) == "open"
    assert faults.pending == left(read_events(log)) == ()


def test_a_cluster_that_names_no_coordination_is_not_cut_off(
    lab_partition: Cluster, adapter: Adapter, log: Path
) -> None:
    faults = Faults(lab_partition, adapter, EventLog(log), lambda t: t)
    support = registry.supports("cut_off", lab_partition, adapter)
    assert support is not None
    assert not support.ok
    assert "`coordination`" in support.reason
    with pytest.raises(ConfigurationError, match="`coordination`"):
        faults.run("cut_off", lab_partition.nodes[0])
    assert not log.exists()


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_a_primary_that_does_not_reach_etcd_gives_up_and_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    name = "lab-postgresql-partition"
    try:
        cluster = lab.up(name)
        with closing(adapter_for(cluster)) as adapter:
            (old,) = adapter.targets("primary", 1)
            faults = Faults(cluster, adapter, EventLog(tmp_path / "events"), lambda t: t)
            faults.run("cut_off", old, undo_after_s=120)
            await_true(
                lambda: any(
                    member.role == "primary" and member.node != old.name
                    for member in adapter.members()
                ),
                "another primary",
            )
            assert faults.put_back() == []
            await_whole(adapter)
            assert [cut_off.left_on(n, host_for(n)) for n in cluster.nodes] == ["", "", ""]
    finally:
        lab.down(name)
