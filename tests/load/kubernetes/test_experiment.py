"""A whole experiment on a real replica set whose load comes from three pods."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos

from brownout.inventory import labs
from brownout.inventory.model import Cluster
from brownout.load.kubernetes.api import JobApi
from brownout.load.kubernetes.manifest import selector
from brownout.load.kubernetes.spec import KubernetesLoad

#: A verdict wants a quiet machine.
pytestmark = [pytest.mark.kubernetes, pytest.mark.quiet]


@pytest.fixture
def inventory(fresh_lab: Cluster, load: dict[str, Any], tmp_path: Path) -> Path:
    """The inventory of the lab's cluster, whose load comes from pods."""
    running = yaml.safe_load((labs.directory(fresh_lab.name) / "inventory.yaml").read_text())
    del running["lab"]
    path = tmp_path / "orders.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "orders", "load": load}))
    return path


def test_a_node_is_killed_under_a_load_from_three_pods(inventory: Path, tmp_path: Path) -> None:
    environment = {"BROWNOUT_CLUSTER": str(inventory), "BROWNOUT_STATE": str(tmp_path / "state")}
    ran = chaos.run(
        chaos.quick(chaos.load("node-kill"), chaos.LEAST_BASELINE_S),
        tmp_path,
        *chaos.GENTLY,
        env=environment,
    )

    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.code == 0
    assert ran.deeds == [("kill_node", ran.deeds[0][1]), ("start_node", ran.deeds[0][1])]
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 500
    assert ran.directory is not None
    together = {check["name"]: check for check in ran.impact["validity"]}["generators_together"]
    assert together["ok"], together
    assert sorted(part.name for part in (ran.directory / "parts").iterdir()) == ["0", "1", "2"]


def test_what_an_experiment_that_was_killed_left_in_pods_is_healed(
    inventory: Path, load: dict[str, Any], tmp_path: Path
) -> None:
    environment = {"BROWNOUT_CLUSTER": str(inventory), "BROWNOUT_STATE": str(tmp_path / "state")}
    experiment = chaos.quick(chaos.load("node-kill"), chaos.LEAST_BASELINE_S)
    with chaos.start(experiment, tmp_path, *chaos.GENTLY, env=environment) as process:
        try:
            run = _broken(tmp_path, process)
        finally:
            process.kill()
    healed = subprocess.run(
        [sys.executable, "-m", "brownout", "heal"],
        cwd=tmp_path,
        env={**os.environ, **environment, "BROWNOUT_RUNS": str(tmp_path / "runs")},
        capture_output=True,
        text=True,
    )

    assert healed.returncode == 0, healed.stdout + healed.stderr
    assert "fetched what the load of the run had left elsewhere" in healed.stderr
    for index in "012":
        assert json.loads((run / "parts" / index / "generator.json").read_text())["ended"]
    assert JobApi(KubernetesLoad.model_validate(load)).jobs(selector(run.name)) == []


def _broken(where: Path, process: subprocess.Popen[str]) -> Path:
    """Return the directory of a run once it has broken a node."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[0]
        for events in (where / "runs").glob("*/events.ndjson"):
            if '"kill_node"' in events.read_text():
                return events.parent
        time.sleep(0.05)
    raise AssertionError("nothing was broken")
