"""A real primary is left with little memory, or killed as out of memory, and is put back."""

from pathlib import Path

import pytest

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults import undos
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.heal import also_broken
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.machine import memory
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    for node in lab_mongodb.nodes:
        if reason := memory.why_not(node, host_for(node)):
            pytest.skip(f"NOT TESTED: memory limits: {reason}")
    return lab_mongodb


def test_a_squeezed_primary_runs_on_and_is_put_back(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    pid = host.running().pid
    evidence = faults.run("squeeze_memory", primary, share=1.2, undo_after_s=120)["evidence"]
    assert (evidence["state"], evidence["by"][:8]) == ("squeezed", "cgroup v")
    assert evidence["mib"] == pytest.approx(1.2 * evidence["used_mib"], rel=0.01)
    assert faults.broken == {primary.name: "release_memory"}
    (event,) = read_events(log)
    assert event.undo == {"action": "release_memory"}
    with pytest.raises(Refused, match="at most 1 may be"):
        faults.run("squeeze_memory", next(n for n in cluster.nodes if n != primary))
    assert faults.put_back() == []
    undone = read_events(log)[-1].evidence
    assert ("unfelt" in undone) is (undone["limit_reached"] == 0)
    assert faults.pending == left(read_events(log)) == ()
    assert memory.left_on(primary, host) == ""
    assert host.running().pid == pid


def test_the_kernel_kills_a_primary_and_the_undo_starts_it(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    evidence = faults.run("oom_kill_node", primary)["evidence"]
    assert (evidence["state"], evidence["oom_kills"] >= 1) == ("gone", True)
    assert faults.broken == {primary.name: "start_node"}
    assert memory.left_on(primary, host) == ""
    assert not host.running().running
    assert faults.put_back() == []
    assert host.running().running
    assert memory.why_not(primary, host) == ""  # it is in its own control group again


def test_a_limit_beside_the_record_of_a_node_to_start_is_found_and_taken_away_first(
    cluster: Cluster,
) -> None:
    node = cluster.nodes[0]
    start, release = (PendingUndo(name, node.name) for name in ("start_node", "release_memory"))
    memory.squeeze(node, host_for(node), 4096, 0, 60)  # as a run that is killed may leave one
    try:
        assert also_broken(cluster, (start,)) == (release,)
        assert also_broken(cluster, (release,)) == ()
        assert list(undos.in_order((start, release))) == [[release, start]]
    finally:
        memory.undo_on(node, host_for(node))
    assert also_broken(cluster, (start,)) == ()


def test_what_the_inventory_forbids_touches_nothing(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = cluster.nodes[0]
    denying = cluster.model_copy(
        update={"guards": Guards(deny_acts=("memory_squeeze", "oom_kill"))}
    )
    for name in ("squeeze_memory", "oom_kill_node"):
        with pytest.raises(Refused, match="denies"):
            Faults(denying, adapter, EventLog(log), lambda t: t).run(name, node)
    assert not log.exists()
    with pytest.raises(ConfigurationError, match="mib"):
        faults.run("squeeze_memory", node, mib=-1.0)
    assert faults.put_back() == []
    assert memory.left_on(node, host_for(node)) == ""
    assert host_for(node).running().running
