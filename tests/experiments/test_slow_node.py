"""A node that answers late, for real: response times say by how much and for how long."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.links import delayable

from brownout.inventory.model import Cluster
from brownout.run.latency import read_hlog

pytestmark = pytest.mark.live

LATENCY_MS = 120


@pytest.mark.matrix  # in CI a slowed node is asked, and a run that slows one killed (tests/faults)
@pytest.mark.quiet
def test_a_primary_with_more_latency_is_measured_so(lab_slow: Cluster, tmp_path: Path) -> None:
    ran = chaos.run_quickly("slow-node", tmp_path, lab_slow.name, latency_ms=LATENCY_MS, slow_s=4)
    ran.check_proven()
    assert ran.directory is not None
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [("delay_node", old), ("undelay_node", old)], ran.output
    began, ended = (e["t"] for e in ran.events if e["stage"] == "effective"
                    and e["name"] in ("delay_node", "undelay_node"))  # fmt: skip
    log = read_hlog(ran.directory / "latency.hlog")
    slow = log.between(["lookups/read"], began + 1, ended - 1)
    assert slow is not None
    fastest = slow.at_rank(1)
    assert fastest is not None
    assert fastest >= LATENCY_MS * 1000
    before = log.between(["lookups/read"], began - 2, began)
    assert before is not None
    assert (before.percentile_us(0.5) or 0) < LATENCY_MS * 1000
    assert ran.impact["ledger"]["state"] == "clean"
    assert [delayable(node).delayed() for node in lab_slow.nodes] == ["", "", ""]


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("slow-node", tmp_path).check_passed()
