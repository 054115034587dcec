"""A real primary's disk is slow, and as fast as before, after a crash too."""

import time
from pathlib import Path

import pytest
from tests import kill_harness
from tests.waiting import await_true, await_whole

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.link import Link
from brownout.faults.disk_errors import FailDisk
from brownout.faults.disk_slow import SlowDisk
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards, Node, ProcessSpec
from brownout.machine import disk_errors, disk_slow
from brownout.machine.host import host_for
from brownout.run.contract import breaches
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    for node in lab_mongodb.nodes:
        if reason := disk_slow.TRACER.why_not(node, host_for(node)):
            pytest.skip(f"NOT TESTED: slow disks: {reason}")
    return lab_mongodb


def test_a_primary_with_a_slow_disk_is_traced_flushes_late_and_is_put_back(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    evidence = faults.run("slow_disk", primary, latency_ms=300, undo_after_s=120)["evidence"]
    assert evidence["by"] == "strace"
    assert evidence["threads"] > 10
    assert faults.broken == {primary.name: "unslow_disk"}
    (event,) = read_events(log)
    assert event.undo == {"action": "unslow_disk"}
    assert disk_slow.left_on(primary, host) == "300 ms by strace"
    link = Link(primary, access(cluster), 30.0)
    began = time.monotonic()
    link.ask("fsync")  # a checkpoint and its flushes
    assert time.monotonic() - began >= 0.3
    link.close()
    with pytest.raises(Refused, match="at most 1 may be"):
        faults.run("slow_disk", next(n for n in cluster.nodes if n != primary))
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert disk_slow.left_on(primary, host) == ""
    assert breaches(read_events(log)) == []


def test_what_the_inventory_or_the_kernel_forbids_touches_nothing(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = cluster.nodes[0]
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("disk_slow",))})
    with pytest.raises(Refused, match="disk_slow"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("slow_disk", node)
    assert not log.exists()
    with pytest.raises(ConfigurationError, match="latency_ms"):
        faults.run("slow_disk", node, latency_ms=-1)
    assert faults.put_back() == []
    assert disk_slow.left_on(node, host_for(node)) == ""


@pytest.mark.parametrize(
    ("database", "given", "calls"),
    [
        ("aerospike", "", "write"),
        ("aerospike", "flush", "flush"),
        ("mongodb", "", "flush"),
        ("etcd", "", "flush"),
        ("mongodb", "write", "write"),
    ],
)
def test_the_calls_that_are_meant_are_those_by_which_the_database_waits_for_its_disk(
    database: str, given: str, calls: str, tmp_path: Path
) -> None:
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=("true",))
    node = Node(name="n1", address="127.0.0.1:1", host=spec)
    asked = adapter_for(Cluster(name="c", database=database, environment="test", nodes=(node,)))
    for fault, means in ((SlowDisk(), disk_slow), (FailDisk(), disk_errors)):
        plan = fault.would(asked, node, host_for(node), {"calls": given})
        assert ", ".join(means.CALLS[calls]) in plan
        assert ("pwrite64" in plan) == (calls == "write")
    asked.close()


@pytest.mark.matrix
@pytest.mark.parametrize("after_s", [0.0, 4.0])
def test_a_run_killed_while_its_nodes_disk_is_slow_is_healed(
    cluster: Cluster, tmp_path: Path, after_s: float
) -> None:
    healed = kill_harness.kill_and_heal(
        cluster, tmp_path / "run", "slow_disk", after_s, "disk-slow"
    )
    assert "unslow_disk" in healed.mended
    assert [disk_slow.left_on(node, host_for(node)) for node in cluster.nodes] == ["", "", ""]


@pytest.mark.matrix
@pytest.mark.parametrize("moment", range(20))
def test_killed_at_any_moment_of_the_act_it_is_undone_by_its_record_or_by_the_node(
    cluster: Cluster, adapter: Adapter, log: Path, moment: int
) -> None:
    kill_harness.kill_act(cluster, log, "slow_disk", {"undo_after_s": 5}, moment * 0.05)
    node = cluster.nodes[0]
    if moment % 2:  # half of them are left to the node itself
        await_true(lambda: disk_slow.left_on(node, host_for(node)) == "", "the undo", 30)
    kill_harness.heal_act(cluster, adapter, log)
    assert disk_slow.left_on(node, host_for(node)) == ""
    await_whole(adapter)
