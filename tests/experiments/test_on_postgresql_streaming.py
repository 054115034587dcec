"""Experiments on a primary and two standbys that nothing supervises: no standby takes over."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.wording import mentions

from brownout.measure.document import impact_of
from brownout.show.report import story

ON = "lab-postgresql-streaming"


@pytest.mark.live
@pytest.mark.timeout(600)
def test_nobody_takes_over_from_a_killed_primary_before_a_standby_is_promoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "labs"))
    ran = chaos.run_quickly("manual-promotion", tmp_path, ON, reaction_s=1, downtime_s=0.5)
    ran.check_proven()
    assert [name for name, _ in ran.deeds] == ["kill_node", "promote_standby", "start_node"]
    (fault,) = ran.impact["faults"]
    (succession,) = fault["successions"]
    killed, promoted = (str(node) for _, node in ran.deeds[:2])
    assert (succession["before"], succession["after"]) == (killed, promoted)
    assert succession["first_yes"] >= 1  # not before `reaction_s`
    assert fault["redundancy_time"][1] is not None
    assert ran.impact["ledger"]["state"] in ("clean", "lost")  # standbys follow a little later
    assert ran.impact["ledger"]["acknowledged"] > 0
    copies = ran.impact["ledger"]["copies"]
    assert (copies["compared"], copies["diverged"]) == (copies["keys"], 0), copies
    headline = story.headline(impact_of(ran.impact))
    assert mentions(headline, "fail over", promoted, "by hand")


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["node-pause", "stepdown", "rolling-restart"])
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(name: str, tmp_path: Path) -> None:
    chaos.run_as_shipped(name, tmp_path, ON).check_passed()


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["node-kill", "node-wipe"])
def test_a_standby_that_dies_is_hardly_felt(name: str, tmp_path: Path) -> None:
    ran = chaos.run_as_shipped(name, tmp_path, ON, "--var", "target=replica")
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["faults"][0]["redundancy_time"][1] is not None


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_a_primary_that_comes_back_was_followed_by_nobody(tmp_path: Path) -> None:
    ran = chaos.run_as_shipped("node-kill", tmp_path, ON)
    (killed,) = {node for _, node in ran.deeds}
    headline = story.headline(impact_of(ran.impact))
    assert mentions(headline, "fail over", "no other node", str(killed))


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_the_data_of_a_killed_primary_are_kept_since_nobody_took_over(tmp_path: Path) -> None:
    ran = chaos.run_as_shipped("node-wipe", tmp_path, ON)
    assert "wipe_node" not in [name for name, _ in ran.deeds]
    assert ran.deeds[-1][0] == "start_node"
    assert ran.code != 0
