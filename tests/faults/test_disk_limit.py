"""The disk of a real primary is limited, and is as fast as before, after a crash too."""

import contextlib
from pathlib import Path

import pytest
from tests import kill_harness

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.machine import disk_limit
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    with contextlib.closing(adapter_for(lab_mongodb)) as adapter:
        for node in lab_mongodb.nodes:
            host, data = host_for(node), adapter.data_directories(node)
            reasons = [disk_limit.why_not(node, host), *disk_limit.why_not_now(node, host, data)]
            if any(reasons):
                pytest.skip(f"NOT TESTED: limited disks: {'; '.join(filter(None, reasons))}")
    return lab_mongodb


def test_a_primary_with_a_limited_disk_keeps_its_role_and_is_put_back(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    evidence = faults.run("limit_disk", primary, mib_per_s=2, undo_after_s=120)["evidence"]
    assert (evidence["state"], evidence["mib_per_s"], evidence["iops"]) == ("limited", 2, 0)
    assert faults.broken == {primary.name: "unlimit_disk"}
    (event,) = read_events(log)
    assert event.undo == {"action": "unlimit_disk"}
    assert disk_limit.left_on(primary, host).startswith("2 MiB/s of disk")
    with pytest.raises(Refused, match="at most 1 may be"):
        faults.run("limit_disk", next(n for n in cluster.nodes if n != primary))
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert disk_limit.left_on(primary, host) == ""
    assert adapter.targets("primary", 1)[0] == primary


def test_what_the_inventory_or_the_kernel_forbids_touches_nothing(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    node = cluster.nodes[0]
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("disk_limit",))})
    with pytest.raises(Refused, match="disk_limit"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("limit_disk", node)
    assert not log.exists()
    with pytest.raises(ConfigurationError, match="mib_per_s"):
        faults.run("limit_disk", node, mib_per_s=0)
    assert faults.put_back() == []
    assert disk_limit.left_on(node, host_for(node)) == ""


@pytest.mark.matrix
def test_a_run_killed_while_its_nodes_disk_is_limited_is_healed(
    cluster: Cluster, tmp_path: Path
) -> None:
    healed = kill_harness.kill_and_heal(
        cluster, tmp_path / "run", "limit_disk", 0.5, "disk-limited"
    )
    assert "unlimit_disk" in healed.mended
    left_there = [disk_limit.left_on(node, host_for(node)) for node in cluster.nodes]
    assert left_there == ["", "", ""]
