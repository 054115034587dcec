"""A node of one shard is killed: the loss is that shard's. Behind our stand-in for a router."""

from pathlib import Path

import numpy as np
import pytest
from tests import chaos_runner as chaos

from brownout.inventory.labs import running_inventory
from brownout.run.lanes import read_lanes
from brownout.run.table import BUCKETS_PER_S

pytestmark = pytest.mark.quiet  # a starved machine is felt in every lane

NAME = "lab-mongodb-sharded"


@pytest.mark.timeout(300)
def test_a_killed_primary_is_felt_in_the_lanes_of_its_shard_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    ran = chaos.run_quickly("node-kill", tmp_path, NAME, downtime_s=0, target="primary@s2")
    ran.check_proven()
    assert ran.directory is not None
    old = ran.impact["experiment"]["target"]
    assert old.startswith("s2n")
    assert ran.deeds == [("kill_node", old), ("start_node", old)], ran.output
    fault = ran.impact["faults"][0]
    # Until a new primary served again; a starved machine may be felt everywhere, at any time.
    there = fault["effective"], fault["effective"] + fault["promoted_time"][1] + 1
    began, ended = (int(t * BUCKETS_PER_S) for t in there)
    lost = {"s1": 0, "s2": 0}
    for key, lane in read_lanes(ran.directory / "lanes.csv").items():
        lost[key.lane.partition("/")[0]] += int(np.sum(lane["bad"][began:ended]))
    assert lost["s2"] > 0
    assert lost["s1"] * 10 < lost["s2"], lost
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 100
    assert ran.impact["stand_in"]
    assert "STAND-IN" in ran.output
    assert running_inventory(NAME) is None


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["node-kill", "node-wipe", "stepdown"])
def test_one_shard_pays_within_the_limits_and_no_acknowledged_write_is_lost(
    name: str, tmp_path: Path
) -> None:
    options = ("--var", "target=primary@s1", *chaos.GENTLY)
    chaos.run_as_shipped(name, tmp_path, NAME, *options).check_passed()
