"""Experiments on a Redis under Sentinel: its sentinels promote a replica, if they are enough."""

import threading
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.own_lab import own_lab
from tests.waiting import await_true
from tests.wording import mentions

from brownout.databases.redis.lab.sentinel import sentinels_in
from brownout.inventory import labs
from brownout.machine import network
from brownout.machine.host import host_for
from brownout.measure.document import impact_of
from brownout.show.report import story

ON = "lab-redis-sentinel"
WHY_NOT = network.why_not()
EVENTS = "events.ndjson"


@pytest.mark.live
@pytest.mark.timeout(600)
def test_a_killed_master_is_replaced_by_its_sentinels_and_returns_as_a_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab(ON, tmp_path / "labs", monkeypatch):
        ran = chaos.run_quickly("node-kill", tmp_path, ON, downtime_s=4)
    ran.check_proven()
    assert [name for name, _ in ran.deeds] == ["kill_node", "start_node"]
    (fault,) = ran.impact["faults"]
    assert fault["promoted_time"][1] is not None
    assert fault["rejoin_time"][1] is not None
    assert fault["redundancy_time"][1] is not None
    (succession,) = fault["successions"]
    assert succession["before"] == ran.deeds[0][1] != succession["after"]
    ledger = ran.impact["ledger"]
    assert ledger["acknowledged"] > 0
    assert ledger["state"] in ("clean", "lost")  # a replica may be a moment behind
    copies = ledger["copies"]
    assert (copies["compared"], copies["diverged"]) == (copies["keys"], 0), copies
    assert ran.impact["verdict"] in ("pass", "fail", "inconclusive")  # how fast is not tested
    assert ran.impact["driver"]["name"] == "github.com/redis/go-redis/v9"


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["node-kill", "node-wipe", "node-pause", "rolling-restart"])
def test_it_is_served_within_its_limits_as_shipped(name: str, tmp_path: Path) -> None:
    ran = chaos.run_as_shipped(name, tmp_path, ON)
    ran.check_proven()
    assert ran.impact["faults"][0]["redundancy_time"][1] is not None


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_a_hand_over_loses_exactly_what_is_missing_from_the_new_master(tmp_path: Path) -> None:
    """The old master acknowledges writes until it is a replica; each loss is one that is gone."""
    ran = chaos.run_as_shipped("stepdown", tmp_path, ON)
    ran.check_proven()
    ledger = ran.impact["ledger"]
    assert ledger["copies"]["diverged"] == 0
    assert (ledger["state"] == "clean") == (ledger["lost"] == 0)


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: partitions of a Redis: {WHY_NOT}")
def test_what_a_master_acknowledges_that_is_cut_off_is_found_lost(tmp_path: Path) -> None:
    ran = chaos.run_as_shipped("partition", tmp_path, f"{ON}-partition")
    ran.check_proven()
    assert ran.impact["ledger"]["lost"] > 0
    (fault,) = ran.impact["faults"]
    assert fault["primary_overlap"][0] > 1
    assert fault["redundancy_time"][1] is not None


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_without_a_quorum_of_sentinels_the_database_does_not_fail_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab(ON, tmp_path / "labs", monkeypatch):
        sentinels = sentinels_in(labs.directory(ON))
        runs = tmp_path / "runs"

        def lose_the_quorum() -> None:
            def begun() -> bool:
                return any('"kill_node"' in path.read_text() for path in runs.rglob(EVENTS))

            # Before they see the master as down, which takes them 1.5 s.
            await_true(begun, "the master is killed", every_s=0.005)
            for node in sentinels[:2]:
                host_for(node).stop("kill")

        killer = threading.Thread(target=lose_the_quorum)
        killer.start()
        try:
            ran = chaos.run_quickly("node-kill", tmp_path, ON, downtime_s=4, milestone_limit_s=15)
        finally:
            killer.join()
    (succession,) = ran.impact["faults"][0]["successions"]
    assert succession["before"] == succession["after"]  # it came back as the master
    assert mentions(story.headline(impact_of(ran.impact)), "fail over", "no other node")


@pytest.mark.matrix
@pytest.mark.parametrize("mark", ["kill_node", "wipe_node", "start_node"])
def test_a_run_killed_in_mid_wipe_is_healed(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab(ON, tmp_path / "labs", monkeypatch) as cluster:
        options = ("--var", f"cluster={ON}")
        result = kill_harness.kill_and_heal(cluster, tmp_path / "run", mark, options=options)
    assert "n" in result.mended
