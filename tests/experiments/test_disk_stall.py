"""A primary whose disk stalls, for real: it stays primary, and writes wait for the thaw."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.databases.lab import file_systems
from brownout.infra import lab
from brownout.inventory import labs
from brownout.machine import stall
from brownout.machine.host import host_for

NAME = "lab-mongodb-disk"
WHY_NOT = file_systems.why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: stalled disks: {WHY_NOT}"),
    pytest.mark.live,
    pytest.mark.matrix,  # in CI the disk of a leader stalls (tests/faults/test_disk_stall.py)
    pytest.mark.quiet,
    pytest.mark.timeout(400),
]


def test_a_primary_whose_disk_stalls_stays_primary_and_writes_wait_for_the_thaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    try:
        cluster = lab.up(NAME)
        ran = chaos.run_quickly("disk-stall", tmp_path, NAME, stalled_s=6)
        ran.check_proven()
        old = ran.impact["experiment"]["target"]
        assert ran.deeds == [("stall_disk", old), ("thaw_disk", old)], ran.output
        (fault,) = ran.impact["faults"]
        assert fault["promoted_time"] == [0.0, 0.0]  # there was a primary all the while
        assert fault["scopes"]["write"]["blackout"] >= 4
        assert fault["scopes"]["read"]["blackout"] < fault["scopes"]["write"]["blackout"]
        assert ran.impact["ledger"]["state"] == "clean"
        assert [stall.left_on(n, host_for(n)) for n in cluster.nodes] == ["", "", ""]
    finally:
        lab.down(NAME)
    assert file_systems.left(labs.directory(NAME)) == []


def test_without_a_stall_it_passes_with_a_lab_that_is_down_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    chaos.run_as_shipped("disk-stall", tmp_path, NAME, "--var", "stalled_s:int=0").check_passed()
    assert file_systems.left(labs.directory(NAME)) == []
