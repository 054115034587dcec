"""Planned changes, a rack's loss and a rolling restart on real labs: one run a mechanism, then all.

What happens is tested, never how fast: on a busy machine the load may not be judged at all.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.databases.adapter import adapter_for
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.milestones import still_unmet
from brownout.inventory.labs import running_inventory
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live

PLANNED = ("scale-out", "scale-in", "member-replace")
#: Every experiment here and the labs that it runs on as shipped.
EVERYWHERE = [
    *((name, lab) for name in (*PLANNED, "rolling-restart") for lab in
      ("lab-mongodb", "lab-mongodb-secure", "lab-aerospike")),
    ("replication-factor", "lab-aerospike"),
    ("rack-loss", "lab-mongodb-racks"),
    ("rack-loss", "lab-aerospike-racks"),
]  # fmt: skip


def check_judged(ran: chaos.Ran, faults: int) -> None:
    """Every step is proven, redundancy is back after each, no acknowledged write is lost."""
    impact = ran.impact
    ran.check_proven()
    assert len(impact["faults"]) == faults, ran.output
    for fault in impact["faults"]:
        assert fault["redundancy_time"] is not None
    assert impact["ledger"]["state"] == "clean"


def check_whole(cluster: Cluster) -> None:
    adapter = adapter_for(cluster)
    try:
        assert still_unmet(adapter, "whole") == []
    finally:
        adapter.close()


@pytest.mark.matrix
def test_a_member_is_replaced_and_both_changes_are_put_back(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("member-replace", tmp_path, "lab-mongodb")
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [
        ("remove_node", old), ("add_node", "n4"), ("admit_node", "n4"),
        ("remove_node", "n4"), ("empty_spare", "n4"), ("add_node", old), ("adjust", old),
    ], ran.output  # fmt: skip
    check_judged(ran, faults=2)
    removed, added = ran.impact["faults"]
    assert removed["records_moved"] < 100
    assert added["records_moved"] >= 1000  # the data and the verified keys
    assert added["bytes_moved"] > 100_000
    check_whole(lab_mongodb)


def test_every_member_is_restarted_in_turn_and_the_primary_last(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    with_primary = adapter_for(lab_mongodb)
    primary = with_primary.targets("primary", 1)[0].name
    with_primary.close()
    ran = chaos.run_quickly("rolling-restart", tmp_path, "lab-mongodb", downtime_s=0.5)
    check_judged(ran, faults=3)
    stopped = [node for name, node in ran.deeds if name == "stop_node"]
    assert sorted(map(str, stopped)) == ["n1", "n2", "n3"]
    assert stopped[-1] == primary
    back = [fault["milestones"][-1] for fault in ran.impact["faults"]]
    begun = [fault["requested"] for fault in ran.impact["faults"]]
    assert all(end["name"] == "redundant" for end in back)
    assert all(one["first_yes"] < next for one, next in zip(back, begun[1:], strict=False))


@pytest.mark.matrix  # in CI the factor is changed and put back without a run (tests/faults)
@pytest.mark.quiet
def test_one_copy_more_is_made_of_every_record_and_given_up_in_the_end(
    lab_aerospike: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("replication-factor", tmp_path, "lab-aerospike", migrate_threads=4)
    assert [name for name, _ in ran.deeds] == ["adjust"] * 4, ran.output
    check_judged(ran, faults=1)
    (fault,) = ran.impact["faults"]
    assert [e["type"] for e in fault["events"]] == ["break", "mend", "mend"]
    assert 1000 <= fault["records_moved"] < 2000
    assert fault["records_counted"]
    with AerospikeAdapter(lab_aerospike) as adapter:
        assert adapter.setting("replication_factor", None) == 2
        speed = adapter.setting("migration_speed", None)
    assert "'migrate_threads': 4" not in str(speed)
    assert "stand-in" in ran.impact["cluster"]["engine"]


def test_a_whole_rack_dies_and_every_record_has_a_copy_on_the_other(tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("rack-loss"))
    experiment["configuration"]["downtime_s"] = 0
    ran = chaos.run(experiment, tmp_path, *chaos.GENTLY, env=own_lab(tmp_path))
    killed = [node for name, node in ran.deeds if name == "kill_node"]
    assert killed in (["n1", "n3"], ["n2", "n4"]), ran.output
    check_judged(ran, faults=1)
    assert running_inventory("lab-aerospike-racks") is None


def test_a_change_that_a_database_has_no_word_for_is_refused_before_anything_is_touched(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("replication-factor", tmp_path, "lab-mongodb")
    assert ran.code != 0
    assert ran.directory is None
    assert "scenario `replication-factor` is unsupported on `lab-mongodb`" in ran.output


def own_lab(where: Path) -> Mapping[str, str]:
    """Where a run brings a lab of its own up, and takes it down."""
    return {"BROWNOUT_LAB_DIR": str(where / "lab"), "BROWNOUT_STATE": str(where / "state"),
            "BROWNOUT_ASD": "stand-in"}  # fmt: skip


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "cluster"), EVERYWHERE)
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, cluster: str, tmp_path: Path
) -> None:
    chaos.run_as_shipped(name, tmp_path, cluster, BROWNOUT_ASD="stand-in").check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(900)
def test_a_rolling_restart_with_quiesce_is_not_felt(tmp_path: Path) -> None:
    ran = chaos.run_as_shipped(
        "rolling-restart", tmp_path, "lab-aerospike", "--var", "quiesced=true",
        BROWNOUT_ASD="stand-in",
    )  # fmt: skip
    assert ran.impact["verdict"] == "pass", ran.output
    errors = [sum(fault["errors"].values()) for fault in ran.impact["faults"]]
    assert len(errors) == 5
    assert max(errors) < 10
