"""A primary that has too little CPU, for real: it stays primary, and serves late."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster
from brownout.machine import cpu
from brownout.machine.host import host_for

pytestmark = pytest.mark.live


@pytest.mark.matrix  # in CI a throttled node is asked (tests/faults/test_throttle.py)
@pytest.mark.quiet
def test_a_primary_short_of_cpu_stays_primary_and_has_it_back(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("cpu-starved", tmp_path, lab_mongodb.name, cpus=0.1, throttled_s=5)
    ran.check_proven()
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [("throttle_node", old), ("unthrottle_node", old)], ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    assert [cpu.left_on(n, host_for(n)) for n in lab_mongodb.nodes] == ["", "", ""]


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("cpu-starved", tmp_path).check_passed()
