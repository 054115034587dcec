"""Experiments on three real members of etcd: one run for `make test`, then all as shipped."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.inventory.model import Cluster

ON = "lab-etcd"
SHIPPED = ("node-kill", "node-wipe", "node-pause", "stepdown", "rolling-restart")


@pytest.mark.live
def test_a_killed_leader_costs_an_election_and_no_acknowledged_write(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("node-kill", tmp_path, lab_etcd.name, downtime_s=0.5)
    ran.check_proven()
    impact = ran.impact
    assert [name for name, _ in ran.deeds] == ["kill_node", "start_node"]
    (fault,) = impact["faults"]
    assert fault["promoted_time"][1] is not None
    assert fault["rejoin_time"][1] is not None
    assert fault["redundancy_time"][1] is not None
    assert impact["ledger"]["state"] == "clean"
    assert impact["ledger"]["acknowledged"] > 0
    copies = impact["ledger"]["copies"]
    assert (copies["compared"], copies["diverged"]) == (copies["keys"], 0), copies
    assert impact["verdict"] in ("pass", "fail", "inconclusive")  # how fast it was is not tested
    assert impact["driver"]["name"] == "go.etcd.io/etcd/client/v3"


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("cluster", [ON, "lab-etcd-secure"])
@pytest.mark.parametrize("name", SHIPPED)
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, cluster: str, tmp_path: Path
) -> None:
    chaos.run_as_shipped(name, tmp_path, cluster).check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
def test_without_its_quorum_it_serves_nobody_and_loses_no_acknowledged_write(
    tmp_path: Path,
) -> None:
    chaos.run_as_shipped("majority-loss", tmp_path, "lab-etcd-majority").check_passed()


@pytest.mark.matrix
@pytest.mark.parametrize("mark", ["kill_node", "wipe_node", "start_node"])
def test_a_run_killed_in_mid_wipe_is_healed(mark: str, lab_etcd: Cluster, tmp_path: Path) -> None:
    cluster = ("--var", f"cluster={lab_etcd.name}")
    result = kill_harness.kill_and_heal(lab_etcd, tmp_path / "run", mark, options=cluster)
    assert "n" in result.mended
