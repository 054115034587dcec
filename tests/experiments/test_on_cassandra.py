"""Experiments on three real nodes of Cassandra: for `make matrix`, since they take 2 GB."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.infra import lab
from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.quiet, pytest.mark.timeout(2400)]

ON = "lab-cassandra"
SHIPPED = ("node-kill", "node-wipe", "node-pause", "rolling-restart", "cpu-starved")
#: What three JVMs, a generator and two processors carry.
ORDERS = 60
GENTLY = f"streams.lookups.rate=100,streams.orders.rate={ORDERS},streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=2000"


def run_at(consistency: str, name: str, cluster: Cluster, where: Path) -> chaos.Ran:
    load = f"{GENTLY},options.cassandra.consistency={consistency}"
    options = ("--var", f"cluster={cluster.name}", "--var", f"load={load}")
    ran = chaos.finish(chaos.start(chaos.load(name), where, *options), where, 1800.0)
    print(ran.output)  # `pytest -rP` shows the table
    return ran


@pytest.mark.parametrize("name", SHIPPED)
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, lab_cassandra: Cluster, tmp_path: Path
) -> None:
    run_at("QUORUM", name, lab_cassandra, tmp_path).check_passed()


def test_it_passes_with_tls_and_a_login(lab_cassandra: Cluster, tmp_path: Path) -> None:
    lab.down(lab_cassandra.name)  # six JVMs are too many
    secure = lab.up("lab-cassandra-secure")
    try:
        run_at("QUORUM", "node-kill", secure, tmp_path).check_passed()
    finally:
        lab.down(secure.name)


@pytest.mark.parametrize("consistency", ["ONE", "QUORUM", "ALL"])
@pytest.mark.parametrize(("name", "away_s"), [("node-kill", 2.0), ("node-pause", 8.0)])
def test_a_node_that_is_away_stops_writes_at_all_and_loses_none_at_quorum(
    name: str, away_s: float, consistency: str, lab_cassandra: Cluster, tmp_path: Path
) -> None:
    ran = run_at(consistency, name, lab_cassandra, tmp_path)
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    ledger = ran.impact["ledger"]
    assert ledger["acknowledged"] > 500
    if consistency == "ONE":  # a node that is killed may lose its last tenth of a second
        assert ledger["lost"] <= (0.2 * ORDERS if name == "node-kill" else 0)
    else:
        assert ledger["state"] == "clean"
    if consistency == "ALL":
        assert fault["scopes"]["write"]["longest_blackout"] > away_s - 1


def test_no_node_is_wiped_that_may_hold_the_only_copy_of_what_the_workload_writes(
    lab_cassandra: Cluster, tmp_path: Path
) -> None:
    ran = run_at("ONE", "node-wipe", lab_cassandra, tmp_path)
    assert ran.code == 1
    assert "a write at ONE is acknowledged by 1 copy, and n" in ran.output
    assert ran.deeds == []


def test_a_run_killed_in_mid_wipe_is_healed(lab_cassandra: Cluster, tmp_path: Path) -> None:
    cluster = ("--var", f"cluster={lab_cassandra.name}", "--var", f"load={GENTLY}")
    result = kill_harness.kill_and_heal(
        lab_cassandra, tmp_path / "run", "wipe_node", options=cluster
    )
    assert "n" in result.mended
