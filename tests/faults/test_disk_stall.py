"""The disk of a real leader stalls and is given back, after a crash too."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_lab import own_lab

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter
from brownout.databases.lab import file_systems
from brownout.faults import undos
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster, Guards
from brownout.machine import stall
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events

NAME = "lab-etcd-disk"
WHY_NOT = file_systems.why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: stalled disks: {WHY_NOT}"),
    pytest.mark.live,
]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with own_lab(NAME, tmp_path / "lab", monkeypatch) as own:
        yield own


def test_the_stalled_disk_of_a_leader_is_given_back_by_the_record_of_a_run_that_died(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    (leader,) = adapter.targets("primary", 1)
    host = host_for(leader)
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("disk_stall",))})
    with pytest.raises(Refused, match="disk_stall"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("stall_disk", leader)
    assert stall.left_on(leader, host) == ""
    evidence = faults.run("stall_disk", leader, undo_after_s=120)["evidence"]
    assert (evidence["state"], evidence["by"]) == ("stalled", "fsfreeze")
    assert faults.broken == {leader.name: "thaw_disk"}
    (event,) = read_events(log)
    assert event.undo == {"action": "thaw_disk"}
    others = [node for node in cluster.nodes if node != leader]
    with pytest.raises(Refused, match="at most 1 may be"):
        faults.run("stall_disk", others[0])
    died = Faults(cluster, adapter, EventLog(log), lambda t: t, undos.left(read_events(log)))
    assert died.put_back() == []
    assert undos.left(read_events(log)) == ()
    assert stall.left_on(leader, host) == ""
    faults.put_back()


def test_lab_up_gives_a_disk_back_and_lab_down_ends_a_node_that_waits_for_it(
    cluster: Cluster,
) -> None:
    node = cluster.nodes[0]
    host, data = host_for(node), [labs.directory(NAME) / node.name / "disk" / "data"]
    stall.stall(node, host, data, [], 120)
    assert lab.up(NAME) == cluster
    assert stall.left_on(node, host) == ""
    stall.stall(node, host, data, [], 120)
    assert lab.down(NAME)
    assert not list(Path("/run").glob(f"brownout-{node.key}.*"))


def test_a_disk_is_given_back_before_anything_else_is_put_right() -> None:
    pending = [PendingUndo("start_node", "n1"), PendingUndo("thaw_disk", "n1")]
    ((first, second),) = undos.in_order(pending)
    assert (first.action, second.action) == ("thaw_disk", "start_node")
