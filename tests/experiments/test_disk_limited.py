"""A primary whose disk is limited, for real, and the control that limits nothing."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster
from brownout.machine import disk_limit
from brownout.machine.host import host_for

pytestmark = [
    pytest.mark.live,
    pytest.mark.matrix,  # in CI a limited primary is asked (tests/faults/test_disk_limit.py)
    pytest.mark.quiet,
]


@pytest.mark.parametrize("mib_per_s", [0.1, 100_000])
def test_a_run_with_a_limited_disk_is_undone_and_the_control_passes(
    lab_mongodb: Cluster, tmp_path: Path, mib_per_s: float
) -> None:
    ran = chaos.run_quickly(
        "disk-limited", tmp_path, lab_mongodb.name, mib_per_s=mib_per_s, limited_s=5
    )
    ran.check_proven()
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [("limit_disk", old), ("unlimit_disk", old)], ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    assert [disk_limit.left_on(n, host_for(n)) for n in lab_mongodb.nodes] == ["", "", ""]


@pytest.mark.timeout(400)
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("disk-limited", tmp_path).check_passed()
