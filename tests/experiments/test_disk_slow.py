"""A disk that is slow, for real, and the control that delays nothing."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster
from brownout.machine import disk_slow
from brownout.machine.host import host_for

pytestmark = pytest.mark.live


@pytest.mark.matrix  # in CI a slowed primary is asked (tests/faults/test_disk_slow.py)
@pytest.mark.quiet
@pytest.mark.parametrize("latency_ms", [0, 200])
def test_a_run_with_a_slow_disk_is_undone_and_the_control_passes(
    lab_mongodb: Cluster, tmp_path: Path, latency_ms: int
) -> None:
    ran = chaos.run_quickly(
        "disk-slow", tmp_path, lab_mongodb.name, latency_ms=latency_ms, slow_s=5
    )
    ran.check_proven()
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [("slow_disk", old), ("unslow_disk", old)], ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    assert [disk_slow.left_on(n, host_for(n)) for n in lab_mongodb.nodes] == ["", "", ""]


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("disk-slow", tmp_path).check_passed()
