"""Experiments on three real members under Patroni: one run for `make test`, then all as shipped."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.inventory.model import Cluster

ON = "lab-postgresql"
LABS = (ON, "lab-postgresql-secure")


@pytest.mark.live
@pytest.mark.timeout(600)
def test_a_killed_primary_costs_its_lease_and_another_one_is_promoted(
    lab_postgresql: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("node-kill", tmp_path, lab_postgresql.name, downtime_s=0.5)
    ran.check_proven()
    impact = ran.impact
    assert [name for name, _ in ran.deeds] == ["kill_node", "start_node"]
    (fault,) = impact["faults"]
    assert fault["promoted_time"][1] is not None
    assert fault["rejoin_time"][1] is not None
    assert fault["redundancy_time"][1] is not None
    assert impact["ledger"]["state"] in ("clean", "lost")  # replicas follow a little later
    assert impact["ledger"]["acknowledged"] > 0
    copies = impact["ledger"]["copies"]
    assert (copies["compared"], copies["diverged"]) == (copies["keys"], 0), copies
    assert impact["verdict"] in ("pass", "fail", "inconclusive")  # how fast it was is not tested
    assert impact["driver"]["name"] == "github.com/jackc/pgx/v5"


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("cluster", LABS)
@pytest.mark.parametrize("name", ["node-pause", "stepdown", "rolling-restart"])
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, cluster: str, tmp_path: Path
) -> None:
    chaos.run_as_shipped(name, tmp_path, cluster).check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("cluster", LABS)
@pytest.mark.parametrize("name", ["node-kill", "node-wipe"])
def test_a_primary_that_dies_takes_with_it_only_what_its_replicas_did_not_have_yet(
    name: str, cluster: str, tmp_path: Path
) -> None:
    impact = chaos.run_as_shipped(name, tmp_path, cluster).impact
    lost = impact["ledger"]["lost"]
    assert lost <= 40  # 0.1 s of acknowledged writes; replicas follow within milliseconds
    assert impact["ledger"]["acknowledged"] > 1000
    assert impact["verdict"] == ("fail" if lost else "pass")
    assert {reason.partition(":")[0] for reason in impact["reasons"]} <= {"lost_writes"}


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["node-kill", "stepdown"])
def test_where_commits_wait_for_a_replica_no_acknowledged_write_is_lost(
    name: str, tmp_path: Path
) -> None:
    chaos.run_as_shipped(name, tmp_path, "lab-postgresql-sync").check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("cluster", LABS)
def test_an_orphaned_primary_costs_no_outage_and_what_it_acknowledged(
    cluster: str, tmp_path: Path
) -> None:
    ran = chaos.run_as_shipped("patroni-killed", tmp_path, cluster)
    impact = ran.impact
    assert [name for name, _ in ran.deeds] == ["kill_supervisor", "start_supervisor"]
    assert impact["verdict"] == "fail", ran.output
    broken = {reason.partition(":")[0] for reason in impact["reasons"]}
    assert broken >= {"lost_writes", "primary_overlap"}
    (fault,) = impact["faults"]
    assert fault["promoted_time"][1] is not None
    assert fault["primary_overlap"][0] > 4  # `downtime_s` is 5, from when another one said so
    assert impact["ledger"]["lost"] > 100


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_where_commits_wait_for_a_replica_an_orphaned_primary_acknowledges_nothing(
    tmp_path: Path,
) -> None:
    impact = chaos.run_as_shipped("patroni-killed", tmp_path, "lab-postgresql-sync").impact
    assert impact["verdict"] == "fail"
    (fault,) = impact["faults"]
    assert fault["primary_overlap"][0] > 4
    assert fault["scopes"]["write"]["blackout"] > 1  # after a deadline we ask another node
    assert impact["ledger"]["lost"] == 0
    assert impact["ledger"]["acknowledged"] > 1000


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_a_leader_that_comes_back_from_a_pause_finds_that_it_leads_no_longer(
    tmp_path: Path,
) -> None:
    ran = chaos.run_as_shipped("leader-paused-past-ttl", tmp_path, ON)
    assert [name for name, _ in ran.deeds] == ["pause_node", "resume_node"]
    (fault,) = ran.impact["faults"]
    assert fault["promoted_time"][1] is not None
    ran.check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(1500)
def test_an_old_patroni_takes_the_lead_back_after_a_pause_sooner_or_later(tmp_path: Path) -> None:
    lost = 0
    for number in range(8):  # two threads of it race: 2 of 3 runs lost writes
        where = tmp_path / str(number)
        ran = chaos.run_as_shipped("leader-paused-past-ttl", where, "lab-postgresql-patroni3")
        lost = ran.impact["ledger"]["lost"]
        if lost:
            assert ran.impact["verdict"] == "fail"
            break
    assert lost > 100


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mark", ["kill_supervisor", "start_supervisor"])
def test_a_run_killed_while_a_supervisor_is_dead_is_healed(
    mark: str, lab_postgresql: Cluster, tmp_path: Path
) -> None:
    options = ("--var", f"cluster={lab_postgresql.name}")
    result = kill_harness.kill_and_heal(
        lab_postgresql, tmp_path / "run", mark, options=options, experiment="patroni-killed"
    )
    assert "n" in result.mended


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mark", ["kill_node", "wipe_node", "start_node"])
def test_a_run_killed_in_mid_wipe_is_healed(
    mark: str, lab_postgresql: Cluster, tmp_path: Path
) -> None:
    cluster = ("--var", f"cluster={lab_postgresql.name}")
    result = kill_harness.kill_and_heal(lab_postgresql, tmp_path / "run", mark, options=cluster)
    assert "n" in result.mended
