"""What a lab that goes with its run leaves behind."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

pytestmark = pytest.mark.live


def test_a_run_that_did_not_pass_keeps_the_logs_of_the_lab_that_it_takes_down(
    tmp_path: Path,
) -> None:
    place = {"BROWNOUT_LAB_DIR": str(tmp_path / "lab"), "BROWNOUT_STATE": str(tmp_path / "state")}
    variables = ("--var", "cluster=lab-etcd", *chaos.GENTLY)
    ran = chaos.run(chaos.quick(chaos.load("stepdown")), tmp_path, *variables, env=place)
    assert ran.impact["verdict"] != "pass"  # its baseline is too short for one
    assert ran.directory is not None
    logs = {each.stem: each.read_text() for each in (ran.directory / "lab-logs").iterdir()}
    assert logs.keys() == {"n1", "n2", "n3"}
    assert all("auth/store.go" in text for text in logs.values())  # etcd's own
    assert list((tmp_path / "lab").iterdir()) == []
