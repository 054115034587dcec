"""Planned changes of five stand-in nodes: what a node comes with, and what must wait for it."""

from pathlib import Path

import pytest
from tests.forked_run import brownout
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.faults import undos
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events

PINNED = "replication_factor was changed by this run, and a node starts with its own"


@pytest.fixture
def cluster(lab_aerospike: Cluster) -> Cluster:
    return lab_aerospike


def test_no_node_may_be_broken_added_or_removed_while_it_would_come_back_with_another_factor(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    faults.run("adjust", setting="replication_factor", value=3)
    await_true(lambda: adapter.stable("whole").reached, "three copies")
    node, spare = lab_aerospike.node("n2"), lab_aerospike.spares[0]
    with pytest.raises(Refused, match=PINNED):
        faults.run("stop_node", node)
    with pytest.raises(Refused, match=PINNED):
        faults.run("remove_node", node)
    with pytest.raises(Refused, match=PINNED):
        faults.run("add_node", spare)
    assert faults.broken == {}


@pytest.mark.matrix
def test_a_node_that_comes_later_moves_data_at_the_speed_that_the_others_were_given(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    before = adapter.setting("migration_speed", None)
    faults.run("adjust", setting="migration_speed", value={"migrate_threads": 4})
    faults.run("add_node", lab_aerospike.spares[0])
    told = adapter.setting("migration_speed", None)
    assert sorted(told) == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert {speed["migrate_threads"] for speed in told.values()} == {4}
    assert faults.put_back() == []
    assert adapter.setting("migration_speed", None) == before


def test_a_node_that_was_quiesced_and_not_yet_out_when_the_run_died_is_given_its_work_back(
    adapter: AerospikeAdapter, lab_aerospike: Cluster, tmp_path: Path
) -> None:
    log = EventLog(tmp_path / "died.ndjson")
    node = lab_aerospike.node("n1")
    log.intent(
        "break", "remove_node", node=node.name, undo=PendingUndo("add_node", node.name).event()
    )
    adapter.drain(node)  # and then it died
    pending = undos.left(read_events(tmp_path / "died.ndjson"))
    with AerospikeAdapter(lab_aerospike) as later:
        after = Faults(lab_aerospike, later, log, lambda t: t, pending)
        assert after.put_back() == []
    await_true(lambda: adapter.stable("whole").reached, "a whole cluster")


def test_the_only_copy_is_not_wiped_though_the_cluster_is_whole(
    adapter: AerospikeAdapter, lab_aerospike: Cluster, log: Path
) -> None:
    node = lab_aerospike.node("n2")
    faults = Faults(lab_aerospike, adapter, EventLog(log), lambda t: t, to_wipe=lambda _: True)
    before = host_for(node).running().pid
    assert adapter.would_lose([node]) == []
    adapter.adjust("replication_factor", 1, None)
    try:
        await_true(lambda: adapter.stable("whole").reached, "one copy")
        with pytest.raises(Refused, match="copies: one more failure loses data: namespace `test`"):
            faults.run("kill_node", node)
        said = brownout("plan", "node-wipe", "--set", "cluster=lab-aerospike", "--set", "target=n2")
    finally:
        adapter.adjust("replication_factor", 2, None)
        await_true(lambda: adapter.stable("redundant").reached, "two copies")
    assert "one more failure loses data: namespace `test`: 1 of 2" in said.stdout
    assert said.returncode == 64
    assert host_for(node).running().pid == before
    assert adapter.would_lose([node]) == []
    assert adapter.would_lose(lab_aerospike.nodes[:2]) != []
