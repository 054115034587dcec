"""Whole experiments by ssh with a login that may do what `brownout sudoers` wrote, and no more."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.faults.behind_ssh import elsewhere
from tests.forked_run import brownout
from tests.restricted import USER, installed, machine, sudo_log
from tests.sshd import Sshd

from brownout.databases.adapter import adapter_for
from brownout.infra import lab
from brownout.inventory import inventory, labs

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.timeout(900)]


@pytest.fixture
def far() -> Iterator[Sshd]:
    with machine() as server:
        yield server


@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("lab-mongodb", "node-wipe"),
        ("lab-mongodb", "node-pause"),
        ("lab-mongodb", "rolling-restart"),
        ("lab-etcd", "node-wipe"),
        ("lab-redis", "node-wipe"),
        ("lab-redis", "node-kill"),
        ("lab-postgresql", "patroni-killed"),
        ("lab-postgresql", "node-pause"),
        ("lab-postgresql", "node-wipe"),
    ],
)
def test_an_experiment_needs_no_more_than_the_rights_that_were_written_for_it(
    name: str, experiment: str, far: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        cluster = lab.up(name)
        with closing(adapter_for(cluster)) as adapter:
            named = [
                word
                for node in cluster.nodes
                for directory in adapter.data_directories(node)
                for word in ("--directory", f"{node.name}={directory}")
            ]
        running = yaml.safe_load((labs.directory(name) / "inventory.yaml").read_text())
        del running["lab"]
        login = {**far.login(user=USER), "sudo": "helpers"}
        running["nodes"] = [elsewhere(node, login) for node in running["nodes"]]
        path = tmp_path / "far.yaml"
        path.write_text(yaml.safe_dump({**running, "name": "far", "allow_data_loss": True}))
        with installed(inventory.load(str(path)).nodes):
            written = brownout("sudoers", str(path), "--output", str(tmp_path / "rights"), *named)
            assert (written.returncode, written.stderr) == (0, ""), written.stderr
            for node in running["nodes"]:
                installer = tmp_path / "rights" / node["name"] / "install.sh"
                subprocess.run(["/bin/sh", str(installer)], check=True)
            environment = {"BROWNOUT_CLUSTER": str(path), "BROWNOUT_STATE": str(tmp_path / "state")}
            ran = chaos.run(chaos.quick(chaos.load(experiment)), tmp_path, env=environment)
            ran.check_proven()
            log = sudo_log(far)
            assert "/usr/local/lib/brownout/" in log
            assert "COMMAND=/bin/sh" not in log
    finally:
        lab.down(name)
