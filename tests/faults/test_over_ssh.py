"""A whole run over ssh: nodes broken and mended on other machines, the load from another."""

from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.faults.behind_ssh import elsewhere
from tests.sshd import Sshd

from brownout.inventory import labs
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.matrix)])
def inventory(
    fresh_lab: Cluster, sshd: Sshd, tmp_path: Path, request: pytest.FixtureRequest
) -> Path:
    """The inventory of a cluster, and of its load hosts, all of which is behind the sshd."""
    running = yaml.safe_load((labs.directory(fresh_lab.name) / "inventory.yaml").read_text())
    del running["lab"]
    nodes = [elsewhere(node, sshd.login()) for node in running["nodes"]]
    hosts = [
        {**sshd.login(), "directory": str(tmp_path / f"there-{n}")} for n in range(request.param)
    ]
    load = {"host": hosts[0]} if len(hosts) == 1 else {"where": "ssh", "hosts": hosts}
    path = tmp_path / "far.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "far", "nodes": nodes, "load": load}))
    return path


def test_a_wipe_under_load_is_measured_on_machines_reached_by_ssh(
    inventory: Path, tmp_path: Path
) -> None:
    environment = {"BROWNOUT_CLUSTER": str(inventory), "BROWNOUT_STATE": str(tmp_path / "state")}
    experiment = chaos.quick(chaos.load("node-wipe"))
    experiment["configuration"]["downtime_s"] = 0.5
    ran = chaos.run(experiment, tmp_path, env=environment)
    told = [(event["name"], event["stage"]) for event in ran.events]
    ran.check_proven()
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 500  # what was there, and more
    assert ran.impact["faults"][0]["blackout"] > 0.5
    assert [name for name, stage in told if stage == "effective"] == [
        "kill_node",
        "wipe_node",
        "start_node",
    ]
    assert ran.directory is not None
    assert (ran.directory / "series.csv").stat().st_size > 1000, "fetched from the load host"
    for there in tmp_path.glob("there-*"):
        left = [path.name for path in there.iterdir() if not path.name.startswith("loadgen-")]
        assert left == [], "nothing of the run stays there"
