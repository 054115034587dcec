"""A whole run over ssh: nodes broken and mended on other machines, the load from another."""

from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.faults.behind_ssh import elsewhere
from tests.sshd import Sshd

from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live


def far(name: str, sshd: Sshd, tmp_path: Path, load_hosts: int) -> Path:
    """Return the inventory of a running lab, and of its load hosts, all behind the sshd."""
    running = yaml.safe_load((labs.directory(name) / "inventory.yaml").read_text())
    del running["lab"]
    nodes = [elsewhere(node, sshd.login()) for node in running["nodes"]]
    hosts = [{**sshd.login(), "directory": str(tmp_path / f"there-{n}")} for n in range(load_hosts)]
    load = {"host": hosts[0]} if len(hosts) == 1 else {"where": "ssh", "hosts": hosts}
    path = tmp_path / "far.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "far", "nodes": nodes, "load": load}))
    return path


def wiped_over_ssh(inventory: Path, tmp_path: Path) -> chaos.Ran:
    """Wipe a node by a short run, and return the run."""
    environment = {"BROWNOUT_CLUSTER": str(inventory), "BROWNOUT_STATE": str(tmp_path / "state")}
    experiment = chaos.quick(chaos.load("node-wipe"))
    experiment["configuration"]["downtime_s"] = 0.5
    ran = chaos.run(experiment, tmp_path, env=environment)
    ran.check_proven()
    assert ran.impact["ledger"]["state"] == "clean"
    told = [(event["name"], event["stage"]) for event in ran.events]
    assert [name for name, stage in told if stage == "effective"] == [
        "kill_node",
        "wipe_node",
        "start_node",
    ]
    return ran


@pytest.mark.parametrize("load_hosts", [1, pytest.param(2, marks=pytest.mark.matrix)])
def test_a_wipe_under_load_is_measured_on_machines_reached_by_ssh(
    fresh_lab: Cluster, sshd: Sshd, tmp_path: Path, load_hosts: int
) -> None:
    ran = wiped_over_ssh(far(fresh_lab.name, sshd, tmp_path, load_hosts), tmp_path)
    assert ran.impact["ledger"]["acknowledged"] > 500  # what was there, and more
    assert ran.impact["faults"][0]["blackout"] > 0.5
    assert ran.directory is not None
    assert (ran.directory / "series.csv").stat().st_size > 1000, "fetched from the load host"
    for there in tmp_path.glob("there-*"):
        left = [path.name for path in there.iterdir() if not path.name.startswith("loadgen-")]
        assert left == [], "nothing of the run stays there"


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["lab-cassandra", "lab-etcd", "lab-postgresql", "lab-redis"])
def test_a_node_of_another_database_is_wiped_over_ssh(
    name: str, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    try:
        lab.up(name)
        for arguments in labs.directory(name).glob("*/jvm.args"):
            # Where a package of Cassandra has them: no command tells over ssh.
            arguments.with_name("jvm-server.options").symlink_to(arguments)
        wiped_over_ssh(far(name, sshd, tmp_path, 1), tmp_path)
    finally:
        lab.down(name)
