"""A real primary is left with little CPU, and has it back, after a crash too."""

from pathlib import Path

import pytest
from tests import kill_harness

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.machine import cpu
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    for node in lab_mongodb.nodes:
        if reason := cpu.why_not(node, host_for(node)):
            pytest.skip(f"NOT TESTED: CPU limits: {reason}")
    return lab_mongodb


def test_a_throttled_primary_keeps_its_role_and_is_put_back(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    evidence = faults.run("throttle_node", primary, cpus=0.3, undo_after_s=120)["evidence"]
    assert (evidence["state"], evidence["cpus"]) == ("throttled", 0.3)
    assert evidence["by"] in ("cgroup v1", "cgroup v2")
    assert faults.broken == {primary.name: "unthrottle_node"}
    (event,) = read_events(log)
    assert event.undo == {"action": "unthrottle_node"}
    assert cpu.left_on(primary, host).startswith("0.3 CPUs")
    with pytest.raises(Refused, match="at most 1 may be"):
        faults.run("throttle_node", next(n for n in cluster.nodes if n != primary))
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert cpu.left_on(primary, host) == ""
    assert adapter.targets("primary", 1)[0] == primary


def test_what_the_inventory_or_the_kernel_forbids_touches_nothing(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = cluster.nodes[0]
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("throttle",))})
    with pytest.raises(Refused, match="throttle"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("throttle_node", node)
    assert not log.exists()
    with pytest.raises(ConfigurationError, match="cpus"):
        faults.run("throttle_node", node, cpus=0.0)
    assert faults.put_back() == []
    assert cpu.left_on(node, host_for(node)) == ""


@pytest.mark.matrix
def test_a_run_killed_while_its_node_is_throttled_is_healed(
    cluster: Cluster, tmp_path: Path
) -> None:
    healed = kill_harness.kill_and_heal(
        cluster, tmp_path / "run", "throttle_node", 0.5, "cpu-starved"
    )
    assert "unthrottle_node" in healed.mended
    assert [cpu.left_on(node, host_for(node)) for node in cluster.nodes] == ["", "", ""]
