"""A whole experiment on a real replica set whose load comes from three pods."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos

from brownout.cluster.model import Cluster
from brownout.infra.lab import state

pytestmark = pytest.mark.kubernetes


@pytest.fixture
def inventory(fresh_lab: Cluster, load: dict[str, Any], tmp_path: Path) -> Path:
    """The inventory of the lab's cluster, whose load comes from pods."""
    running = yaml.safe_load((state.directory(fresh_lab.name) / "inventory.yaml").read_text())
    del running["lab"]
    path = tmp_path / "orders.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "orders", "load": load}))
    return path


def test_a_node_is_killed_under_a_load_from_three_pods(inventory: Path, tmp_path: Path) -> None:
    environment = {"BROWNOUT_CLUSTER": str(inventory), "BROWNOUT_STATE": str(tmp_path / "state")}
    ran = chaos.run(chaos.quick(chaos.load("node-kill")), tmp_path, *chaos.GENTLY, env=environment)

    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.code == 0
    assert ran.deeds == [("kill_node", ran.deeds[0][1]), ("start_node", ran.deeds[0][1])]
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 1000
    assert ran.directory is not None
    together = {check["name"]: check for check in ran.impact["validity"]}["generators_together"]
    assert together["ok"], together
    assert sorted(part.name for part in (ran.directory / "parts").iterdir()) == ["0", "1", "2"]
