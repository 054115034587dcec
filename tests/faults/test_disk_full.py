"""The disk of a real leader is filled and freed, and the node is started if it ended by that."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import kill_harness
from tests.own_lab import own_lab
from tests.waiting import await_true, await_whole

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter
from brownout.databases.lab import file_systems
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster, Guards
from brownout.machine import disk_full
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events

NAME = os.environ.get("BROWNOUT_FULL_LAB", "lab-etcd-disk")
WHY_NOT = file_systems.why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: full disks: {WHY_NOT}"),
    pytest.mark.live,
]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with own_lab(NAME, tmp_path / "lab", monkeypatch) as own:
        yield own


def test_the_full_disk_of_a_leader_is_freed_and_the_leader_started_if_it_ended(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    (leader,) = adapter.targets("primary", 1)
    host = host_for(leader)
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("disk_full",))})
    with pytest.raises(Refused, match="disk_full"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("fill_disk", leader)
    assert disk_full.left_on(leader, host) == ""
    evidence = faults.run("fill_disk", leader, undo_after_s=120)["evidence"]
    assert evidence["free_bytes"] < disk_full.MIB
    assert faults.broken == {leader.name: "free_disk"}
    (event,) = read_events(log)
    assert event.undo == {"action": "free_disk"}
    host.stop("kill")  # as a server ends that finds no space
    died = Faults(cluster, adapter, EventLog(log), lambda t: t, undos.left(read_events(log)))
    assert died.put_back() == []
    (freed,) = [each for each in read_events(log) if each.name == "free_disk"]
    assert freed.evidence["started"]
    assert undos.left(read_events(log)) == ()
    assert disk_full.left_on(leader, host) == ""
    faults.put_back()


def test_lab_up_frees_a_disk(cluster: Cluster) -> None:
    node = cluster.nodes[0]
    host, data = host_for(node), [labs.directory(NAME) / node.name / "disk" / "data"]
    disk_full.fill(node, host, data, [], 0, 120)
    assert lab.up(NAME) == cluster
    assert disk_full.left_on(node, host) == ""


@pytest.mark.matrix
def test_killed_at_any_moment_of_the_act_it_is_undone_by_its_record_or_by_the_node(
    cluster: Cluster, adapter: Adapter, tmp_path: Path
) -> None:
    node = cluster.nodes[0]
    for moment in range(20):
        log = tmp_path / f"{moment}.ndjson"
        kill_harness.kill_act(cluster, log, "fill_disk", {"undo_after_s": 5}, moment * 0.1)
        if moment % 2:  # half of them are left to the node itself
            await_true(lambda: disk_full.left_on(node, host_for(node)) == "", "the undo", 30)
        kill_harness.heal_act(cluster, adapter, log)
        assert disk_full.left_on(node, host_for(node)) == ""
        assert not list(Path("/run").glob("brownout-n?-*.full"))
        await_whole(adapter)


@pytest.mark.matrix
@pytest.mark.parametrize("after_s", [0.0, 4.0])
def test_a_run_killed_while_its_nodes_disk_is_full_is_healed(
    cluster: Cluster, tmp_path: Path, after_s: float
) -> None:
    where, env = tmp_path / "run", {"BROWNOUT_CLUSTER": NAME}
    healed = kill_harness.kill_and_heal(cluster, where, "fill_disk", after_s, "disk-full", env=env)
    assert "free_disk" in healed.mended
    assert [disk_full.left_on(node, host_for(node)) for node in cluster.nodes] == ["", "", ""]
