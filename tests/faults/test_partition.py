"""A primary is cut off from its set: written down, guarded, and put back, after a crash too."""

from pathlib import Path

import pytest
from tests import kill_harness
from tests.links import partitionable
from tests.waiting import await_true
from tests.wording import mentions

from brownout.base.errors import Refused, UndoFailed, Unsupported
from brownout.databases.adapter import Adapter, adapter_for
from brownout.faults import registry
from brownout.faults.faults import Faults
from brownout.faults.heal import Asked, also_broken, heal
from brownout.faults.open_runs import Claim
from brownout.faults.undos import broken, left
from brownout.inventory.model import Cluster, Guards
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_partition: Cluster) -> Cluster:
    return lab_partition


def test_a_cut_off_primary_is_replaced_and_put_back(
    lab_partition: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    others = [node for node in lab_partition.nodes if node != primary]
    evidence = faults.run("partition_node", primary, undo_after_s=120)
    assert evidence["evidence"]["from"] == [node.address.partition(":")[0] for node in others]
    assert faults.broken == {primary.name: "heal_partition"}
    (event,) = read_events(log)
    assert event.undo == {"action": "heal_partition"}
    assert event.arguments == {"from": [node.address for node in others]}
    with pytest.raises(Refused, match=f"broken now: {primary.name}; at most 1 may be"):
        faults.run("partition_node", others[0])
    await_true(
        lambda: any(m.role == "primary" and m.node != primary.name for m in adapter.members()),
        "another primary",
    )
    assert not adapter.stable("redundant").reached
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert partitionable(primary).cut_off() == []
    await_true(lambda: adapter.stable("whole").reached, "a whole set")


@pytest.mark.matrix
def test_a_run_killed_in_mid_partition_is_healed(lab_partition: Cluster, tmp_path: Path) -> None:
    healed = kill_harness.kill_and_heal(
        lab_partition, tmp_path / "run", "partition_node", 0.5, "partition"
    )
    assert "heal_partition" in healed.mended
    assert [partitionable(node).cut_off() for node in lab_partition.nodes] == [[], [], []]


def test_a_partition_whose_record_is_gone_is_found_and_healed_where_its_node_is_named(
    lab_partition: Cluster, adapter: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    node = adapter.targets("secondary", 1)[0]
    others = [other.address for other in lab_partition.nodes if other != node]
    partitionable(node).partition(others, 120)
    host_for(node).stop("kill")
    waits = {node.name: "start_node then heal_partition"}
    assert broken(also_broken(lab_partition, ())) == waits
    name = lab_partition.name
    dead = Claim(name, str(tmp_path / "run"), name, False, 2**22 + 1, 1, ("chaos",))
    with pytest.raises(UndoFailed, match=r"heal_partition n\d, start_node n\d"):
        heal(dead, 60, print)
    assert partitionable(node).cut_off() != []
    healed = heal(dead, 60, print, Asked((node.name,)))
    assert (healed.mended, healed.whole) == (waits, True)
    assert partitionable(node).cut_off() == []


def test_a_node_that_the_inventory_protects_is_not_cut_off(
    lab_partition: Cluster, adapter: Adapter, log: Path
) -> None:
    denying = lab_partition.model_copy(update={"guards": Guards(deny_acts=("partition",))})
    faults = Faults(denying, adapter, EventLog(log), lambda monotonic: monotonic)
    with pytest.raises(Refused, match="the inventory denies partition"):
        faults.run("partition_node", lab_partition.nodes[0])
    assert not log.exists()
    assert partitionable(lab_partition.nodes[0]).cut_off() == []


def test_where_no_node_can_be_cut_off_it_is_unsupported_and_nothing_is_written(
    lab_mongodb: Cluster, log: Path
) -> None:
    found = adapter_for(lab_mongodb)
    faults = Faults(lab_mongodb, found, EventLog(log), lambda monotonic: monotonic)
    try:
        support = registry.supports("partition", lab_mongodb, found)
        assert support is not None
        assert not support.ok
        assert mentions(support.reason, "`n1`", "`host.network_namespace`")
        with pytest.raises(Unsupported, match=r"`host\.network_namespace`"):
            faults.run("partition_node", lab_mongodb.nodes[0])
        assert not log.exists()
    finally:
        found.close()
