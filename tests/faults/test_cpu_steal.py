"""Real members have their CPU stolen, and have it back."""

from pathlib import Path

import pytest

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.machine import steal
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    for node in lab_mongodb.nodes:
        if reason := steal.why_not(node, host_for(node)):
            pytest.skip(f"NOT TESTED: stolen CPU: {reason}")
    return lab_mongodb


def test_a_secondary_runs_beside_processes_that_steal_its_cpu_and_is_put_back(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = adapter.targets("secondary", 1)[0]
    host = host_for(node)
    pid = host.running().pid
    evidence = faults.run("steal_cpu", node, cpus=0.5, undo_after_s=120)["evidence"]
    assert evidence["got_cpus"] > 0.25
    assert faults.broken == {node.name: "return_cpu"}
    assert steal.left_on(node, host).startswith("0.5 CPUs by ")
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert steal.left_on(node, host) == ""
    assert host.running().pid == pid


def test_what_a_guard_forbids_starts_nothing(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = cluster.nodes[0]
    with pytest.raises(Refused, match="half"):
        faults.run("steal_cpu", node, cpus=1000.0)
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("cpu_steal",))})
    with pytest.raises(Refused, match="denies"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("steal_cpu", node)
    assert not log.exists()
    assert steal.left_on(node, host_for(node)) == ""
