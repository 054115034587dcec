"""What a fault of one node does to the others of its machine: judged, planned and told."""

import time
from pathlib import Path

import pytest
import yaml
from tests.faults.behind_ssh import elsewhere
from tests.sshd import Sshd

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter
from brownout.faults import registry
from brownout.faults.act import PendingUndo
from brownout.faults.fault import NodeFault
from brownout.faults.faults import Faults
from brownout.faults.packet_loss import LosePackets
from brownout.inventory import labs
from brownout.inventory.inventory import load
from brownout.inventory.model import Cluster
from brownout.machine.host import Proof
from brownout.run.events import EventLog, read_events
from brownout.runs.explore.draw import space_of
from brownout.session.step_guards import deeds_of, guards_of_steps

pytestmark = pytest.mark.live

#: What hits all that a machine sends or runs, with its arguments.
WHOLE_MACHINE = [
    ("delay_node", {"latency_ms": 50}),
    ("lose_packets", {"percent": 10.0}),
    ("lose_packets", {"percent": 10.0, "peers": "n3"}),
    ("limit_bandwidth", {"kbit_s": 1000}),
    ("cut_one_way", {"direction": "in", "peers": "all"}),
    ("cut_one_way", {"direction": "in", "peers": "clients", "port": 1}),
]


@pytest.fixture
def together(lab_mongodb: Cluster, sshd: Sshd, tmp_path: Path) -> Cluster:
    """The shared lab as three nodes of one machine that is reached by ssh."""
    running = yaml.safe_load((labs.directory(lab_mongodb.name) / "inventory.yaml").read_text())
    del running["lab"]
    nodes = [elsewhere(node, sshd.login()) for node in running["nodes"]]
    path = tmp_path / "together.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "together", "nodes": nodes}))
    return load(path)


@pytest.fixture
def cluster(together: Cluster) -> Cluster:
    """Asked by `adapter`."""
    return together


def faults_of(
    cluster: Cluster, adapter: Adapter, log: Path, *broken: str, **settings: object
) -> Faults:
    guards = cluster.guards.model_copy(update=settings)
    pending = [PendingUndo("start_node", name) for name in broken]
    changed = cluster.model_copy(update={"guards": guards})
    return Faults(changed, adapter, EventLog(log), lambda monotonic: monotonic, pending)


def fault(name: str) -> NodeFault:
    found = registry.find(name)
    assert isinstance(found, NodeFault)
    return found


@pytest.mark.parametrize(("name", "arguments"), WHOLE_MACHINE)
def test_a_fault_of_a_machine_is_judged_for_all_of_its_nodes(
    name: str, arguments: dict[str, object], together: Cluster, adapter: Adapter, log: Path
) -> None:
    node = together.node("n1")
    faults = faults_of(together, adapter, log)
    with pytest.raises(Refused, match="`n1` and `n2` and `n3` would be 3 more"):
        fault(name).check(faults, node, **arguments)
    careful = faults_of(together, adapter, log, max_nodes_down=3, deny_nodes=("n2",))
    with pytest.raises(Refused, match=r"denied nodes: .*`n2`"):
        fault(name).check(careful, node, **arguments)
    fault(name).check(faults_of(together, adapter, log, max_nodes_down=3), node, **arguments)
    lines = fault(name).plan(together, adapter, node, arguments)
    assert lines is not None
    assert "hits n2, n3 too, on the same machine" in lines


@pytest.mark.parametrize(("name", "arguments"), WHOLE_MACHINE)
def test_a_step_that_hits_a_machine_is_refused_before_the_run(
    name: str, arguments: dict[str, object], together: Cluster, adapter: Adapter
) -> None:
    given = {**arguments, "node": "n1"}
    provider = {"type": "python", "module": "brownout.actions.node", "func": name}
    step = {"type": "action", "name": "ill", "provider": {**provider, "arguments": given}}
    judged = guards_of_steps(deeds_of([step], {}), together, adapter, together.nodes[:1])
    assert {guard.name for guard in judged if not guard.ok} == {"nodes down"}


def test_a_fault_of_a_node_s_own_port_is_judged_for_that_node_alone(
    together: Cluster, adapter: Adapter, log: Path
) -> None:
    node = together.node("n1")
    for arguments in ({"direction": "in", "peers": "clients"}, {"peers": "clients"}):
        act = "cut_one_way" if "direction" in arguments else "lose_packets"
        fault(act).check(faults_of(together, adapter, log), node, **arguments)


def test_a_fault_of_the_process_is_judged_for_that_node_alone(
    together: Cluster, adapter: Adapter, log: Path
) -> None:
    fault("kill_node").check(faults_of(together, adapter, log), together.node("n1"))
    lines = fault("kill_node").plan(together, adapter, together.node("n1"), {})
    assert lines is not None
    assert not any("n2" in line for line in lines)


def test_a_machine_is_not_rebooted_while_another_of_its_nodes_runs(
    together: Cluster, adapter: Adapter, log: Path
) -> None:
    node = together.node("n1")
    with pytest.raises(Refused, match="`n2` and `n3`, on the same machine as `n1`"):
        fault("reboot_node").check(faults_of(together, adapter, log, "n1"), node)
    fault("reboot_node").check(faults_of(together, adapter, log, "n1", "n2", "n3"), node)


def test_an_exploration_does_not_draw_what_hits_more_nodes_than_may_be_broken(
    together: Cluster, adapter: Adapter
) -> None:
    space = space_of(together, adapter, only=["kill_node", "lose_packets"])
    assert set(space.faults) == {"kill_node"}
    assert "n1, n2, n3" in space.left_out["lose_packets"]
    guards = together.guards.model_copy(update={"max_nodes_down": 3})
    wide = space_of(together.model_copy(update={"guards": guards}), adapter)
    assert "lose_packets" in wide.faults


def test_the_nodes_that_a_fault_hits_too_count_until_it_is_undone_and_are_written_down(
    together: Cluster, adapter: Adapter, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is dropped: the machine is this one, with all that it does."""
    monkeypatch.setattr(LosePackets, "do", lambda *_, **__: Proof(time.monotonic(), 0.0))
    faults = faults_of(together, adapter, log, max_nodes_down=3)
    faults.run("lose_packets", together.node("n1"), percent=0.0)
    assert faults.hit == dict.fromkeys(("n1", "n2", "n3"), "deliver_packets")
    assert [event.evidence.get("hits_too") for event in read_events(log)] == [["n2", "n3"]]
    faults.resolve("deliver_packets", "n1")
    assert faults.hit == {}
