"""A real primary whose disk fails ends itself, and is started by the undo."""

from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.databases.adapter import Adapter
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster
from brownout.machine import disk_errors
from brownout.machine.host import host_for
from brownout.run.contract import breaches
from brownout.run.events import read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    for node in lab_mongodb.nodes:
        if reason := disk_errors.TRACER.why_not(node, host_for(node)):
            pytest.skip(f"NOT TESTED: failing disks: {reason}")
    return lab_mongodb


@pytest.mark.matrix  # in CI the flushes of a process fail (tests/machine/test_disk_errors.py)
def test_a_primary_that_ended_by_errors_of_its_disk_is_started_and_the_fault_was_not_cut_short(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    faults.run("fail_disk", primary, undo_after_s=120)
    await_true(lambda: not host.running().running, "its end", 90)
    assert faults.put_back() == []
    mended = [each for each in read_events(log) if each.name == "mend_disk"]
    assert mended[0].evidence["started"]
    assert host.running().running
    assert breaches(read_events(log)) == []
