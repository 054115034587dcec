"""Hosts that a step would act on, and cannot: the plan says no, and a run does not begin."""

import os
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml
from tests.faults.behind_ssh import elsewhere
from tests.forked_run import brownout
from tests.sshd import Sshd

from brownout.base.errors import ExitCode
from brownout.inventory import labs
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live


@pytest.fixture
def far(lab_mongodb: Cluster, sshd: Sshd, tmp_path: Path) -> Path:
    """The inventory of the lab with every node behind the sshd."""
    running = yaml.safe_load((labs.directory(lab_mongodb.name) / "inventory.yaml").read_text())
    del running["lab"]
    login = sshd.login(connect_timeout_s=3.0)
    nodes = [elsewhere(node, login) for node in running["nodes"]]
    path = tmp_path / "far.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "far", "nodes": nodes}))
    return path


def said(command: str, inventory: Path, where: Path) -> CompletedProcess[str]:
    own = {"BROWNOUT_STATE": str(where / "state"), "BROWNOUT_RUNS": str(where / "runs")}
    return brownout(command, "node-pause", "--cluster", str(inventory), env={**os.environ, **own})


def test_a_changed_host_key_is_refused_by_the_plan_and_before_a_run_begins(
    far: Path, sshd: Sshd, tmp_path: Path
) -> None:
    sshd.stop()
    sshd.change_host_key()
    sshd.start()

    planned, ran = said("plan", far, tmp_path), said("run", far, tmp_path)

    assert planned.returncode == ExitCode.BAD_INPUT, planned.stdout
    assert "NO   hosts: " in planned.stdout
    assert re.search(r"NO   hosts: .*host key.*127\.0\.0\.1", planned.stdout)
    assert ran.returncode == ExitCode.BAD_INPUT, ran.stderr
    assert "nothing is touched: hosts: " in ran.stderr
    assert not (tmp_path / "runs").exists()
    assert list((tmp_path / "state").rglob("*.json")) == [], "nothing is claimed"


@pytest.mark.matrix
def test_a_machine_out_of_reach_is_refused_by_the_plan_and_before_a_run_begins(
    far: Path, sshd: Sshd, tmp_path: Path
) -> None:
    sshd.stop()

    planned, ran = said("plan", far, tmp_path), said("run", far, tmp_path)

    assert planned.returncode == ran.returncode == ExitCode.BAD_INPUT, planned.stdout + ran.stderr
    assert "cannot be reached" in planned.stdout
    assert "cannot be reached" in ran.stderr
