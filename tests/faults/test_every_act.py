"""What is asked again at every act, however long ago the run began."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.faults.fault import NodeUndo
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster, Guards, Node, ProcessSpec
from brownout.machine.host import Proof, already, host_for
from brownout.run.events import EventLog, read_events


def test_the_hour_is_asked_again_at_every_act(lab_etcd: Cluster, tmp_path: Path) -> None:
    """A run that began within the allowed hours may come to its break after them."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%a")
    over = Guards(allowed_hours=(f"{tomorrow} 00:00-00:01 UTC",))
    cluster = lab_etcd.model_copy(update={"guards": over})
    log = tmp_path / "events.ndjson"
    with closing(adapter_for(cluster)) as adapter:
        faults = Faults(cluster, adapter, EventLog(log), lambda t: t)
        for act in ("kill_node", "pause_node", "stop_node"):
            with pytest.raises(Refused, match="allowed hours: it is "):
                faults.run(act, cluster.nodes[0])
        with pytest.raises(Refused, match="allowed hours: it is "):
            faults.run_together("kill_node", cluster.nodes)
    assert not log.exists()
    assert all(host_for(node).running().running for node in lab_etcd.nodes)


def test_no_break_begins_once_the_run_is_ending_and_what_is_broken_is_put_back(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    ending = False
    node, log = lab_etcd.nodes[0], tmp_path / "events.ndjson"
    with closing(adapter_for(lab_etcd)) as adapter:
        faults = Faults(lab_etcd, adapter, EventLog(log), lambda t: t, ending=lambda: ending)
        faults.run("pause_node", node)
        ending = True
        with pytest.raises(Refused, match="the run is ending, so kill_node does not begin"):
            faults.run("kill_node", node)
        assert faults.put_back() == []
    assert not host_for(node).running().paused
    assert [e.name for e in read_events(log)] == ["pause_node", "resume_node"]


class RestorePriority(NodeUndo):
    """Give a node the priority that it had, as a fault of another package does."""

    name, act, words = "restore_priority", "low_priority", "served as before"

    def do(self, faults: Faults, node: Node) -> Proof:
        """Do nothing: this is about plans."""
        return already({})


def test_a_plan_names_a_fault_that_says_no_more_of_itself_and_that_no_host_knows() -> None:
    host = ProcessSpec(pid_file=Path("/nowhere/n1.pid"), command=("mongod",))
    node = Node(name="n1", address="127.0.0.1:1", host=host)
    cluster = Cluster(name="c", database="mongodb", environment="test", nodes=(node,))
    with closing(adapter_for(cluster)) as adapter:
        assert RestorePriority().plan(cluster, adapter, node, {}) == [
            "n1 (127.0.0.1:1): restore_priority"
        ]
