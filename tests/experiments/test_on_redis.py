"""Experiments on a real Redis Cluster: one run for `make test`, then all as shipped."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.inventory.model import Cluster

ON = "lab-redis"
SHIPPED = ("node-kill", "node-wipe", "node-pause", "stepdown", "rolling-restart", "reshard")


@pytest.mark.live
def test_a_killed_master_costs_a_failover_of_its_shard_and_no_acknowledged_write(
    lab_redis: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("node-kill", tmp_path, lab_redis.name, downtime_s=6)
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
    assert impact["driver"]["name"] == "github.com/valkey-io/valkey-go"


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("cluster", [ON, "lab-redis-secure"])
@pytest.mark.parametrize("name", SHIPPED)
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, cluster: str, tmp_path: Path
) -> None:
    chaos.run_as_shipped(name, tmp_path, cluster).check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("client", ["go-redis", "valkey-go"])
def test_a_client_that_does_not_look_is_away_long_after_the_failover(
    client: str, lab_redis: Cluster, tmp_path: Path
) -> None:
    options = ("--var", f"cluster={lab_redis.name}", "--var", f"load=options.redis.client={client}")
    ran = chaos.run(chaos.load("client-never-recovers"), tmp_path, *options)
    print(ran.output)
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    promoted, recovered = fault["promoted_time"][1], fault["client_recovered_time"][1]
    assert promoted is not None
    down = next(e["t"] for e in ran.events if e["name"] == "start_node") - next(
        e["t"] for e in ran.events if e["name"] == "kill_node"
    )
    found = recovered is not None and recovered < down
    assert promoted < down
    assert found == (client == "valkey-go"), fault
    assert (fault["partial_outage"] > promoted) == (client == "go-redis"), fault


@pytest.mark.matrix
@pytest.mark.parametrize("mark", ["kill_node", "wipe_node", "start_node"])
def test_a_run_killed_in_mid_wipe_is_healed(mark: str, lab_redis: Cluster, tmp_path: Path) -> None:
    cluster = ("--var", f"cluster={lab_redis.name}")
    result = kill_harness.kill_and_heal(lab_redis, tmp_path / "run", mark, options=cluster)
    assert "n" in result.mended


@pytest.mark.matrix
@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.9])
def test_a_run_killed_while_slots_move_is_healed(
    after_s: float, lab_redis: Cluster, tmp_path: Path
) -> None:
    options = ("--var", f"cluster={lab_redis.name}", "--var", "slots=3000")
    result = kill_harness.kill_and_heal(
        lab_redis, tmp_path / "run", "adjust", after_s, "reshard", options
    )
    assert "slots back to" in result.mended
