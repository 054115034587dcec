"""A stranger's fault: one Python file of another package, found by its entry point, on real mongod.

Nothing of brownout is changed for it. Its file system is a small tmpfs over the member's data.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.forked_run import brownout
from tests.waiting import await_whole

from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

PACKAGE = Path(__file__).parent / "disk_full"
FILE = "brownout-fills-this-disk"


@pytest.fixture(scope="module")
def installed(install: Callable[[Path], Path]) -> Path:
    """Where the package is installed."""
    return install(PACKAGE)


@pytest.fixture
def small(fresh_lab: Cluster) -> Iterator[tuple[Cluster, Node, Path]]:
    """A replica set of which one secondary has its data in a small file system of its own."""
    with closing(adapter_for(fresh_lab)) as adapter:
        node = adapter.targets("secondary", 1)[0]
        (data,) = adapter.data_directories(node)
    host, aside = host_for(node), data.with_name("aside")
    host.stop("clean")
    shutil.copytree(data, aside)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700m", "tmpfs", str(data)], capture_output=True
    )
    try:
        if mounted.returncode:
            pytest.skip(f"NOT TESTED: this machine mounts no tmpfs: {mounted.stderr.decode()}")
        shutil.copytree(aside, data, dirs_exist_ok=True)
        host.start()
        with closing(adapter_for(fresh_lab)) as adapter:
            await_whole(adapter)
        yield fresh_lab, node, data
    finally:
        host.stop("kill")
        subprocess.run(["umount", str(data)], check=not mounted.returncode)


def experiment(node: Node) -> dict[str, Any]:
    """`node-pause`, with this fault in place of the pause."""
    found = chaos.quick(chaos.load("node-pause"))
    found["title"] = "A node's disk is full"
    found["extensions"][0]["needs"] = ["disk_full"]
    del found["configuration"]["undo_after_s"]
    for activity in found["method"]:
        provider = activity["provider"]
        if provider["func"] == "pause_node":
            provider.update(func="fill_disk", arguments={"node": node.name, "leave_mb": "0"})
        if provider["func"] == "resume_node":
            provider.update(func="free_disk", arguments={"node": node.name})
    return found


@pytest.mark.matrix
def test_a_run_fills_the_disk_puts_it_back_and_tells_of_it_in_the_faults_own_words(
    installed: Path, small: tuple[Cluster, Node, Path], tmp_path: Path
) -> None:
    _, node, data = small
    env = {"PYTHONPATH": str(installed), "BROWNOUT_STATE": str(tmp_path / "state")}
    file = tmp_path / "disk-full.json"
    file.write_text(json.dumps(experiment(node)))

    planned = brownout("plan", str(file), env=env)
    assert f"{node.name} ({node.address}): fill {data / FILE}" in planned.stdout, planned.stderr
    assert "yes  supports disk_full" in planned.stdout
    listed = brownout("list", "actions", env=env).stdout
    assert re.search(r"node\.fill_disk +Fill the file system that holds the data of `node`", listed)

    ran = chaos.run(experiment(node), tmp_path, *chaos.GENTLY, env=env)
    assert ("fill_disk", node.name) in ran.deeds, ran.output
    assert ("free_disk", node.name) in ran.deeds
    filled = next(e for e in ran.events if e["stage"] == "effective" and e["name"] == "fill_disk")
    assert filled["evidence"]["free_bytes"] < 1 << 20
    freed = next(e for e in ran.events if e["stage"] == "effective" and e["name"] == "free_disk")
    assert freed["evidence"]["watched"]["until_undo"], "the fault is looked at while it lasts"
    assert ran.impact["ledger"]["state"] == "clean"
    assert not (data / FILE).exists()
    assert ran.directory is not None
    page = brownout("report", str(ran.directory), env=env)
    assert page.returncode == 0, page.stderr
    told = (ran.directory / "report.html").read_text()
    assert f"{node.name} was left without disk space" in told

    refused = data.parents[1] / "denying.yaml"
    settings = yaml.safe_load((data.parents[1] / "inventory.yaml").read_text())
    refused.write_text(yaml.safe_dump({**settings, "guards": {"deny_acts": ["disk_full"]}}))
    said = brownout("plan", str(file), "--set", f"cluster={refused}", env=env)
    assert "NO   deny list: the inventory denies disk_full" in said.stdout
    unknown = brownout("plan", "node-pause", "--set", f"cluster={refused}", env={})
    assert "deny_acts[0]: found 'disk_full', wanted one of add, adjust" in unknown.stderr


@pytest.mark.matrix  # in CI a node is healed after a run that was killed (tests/faults)
def test_the_disk_of_a_node_is_freed_after_the_run_was_killed(
    installed: Path, small: tuple[Cluster, Node, Path], tmp_path: Path
) -> None:
    cluster, node, data = small
    healed = kill_harness.kill_and_heal(
        cluster,
        tmp_path / "run",
        "fill_disk",
        0.5,
        experiment(node),
        chaos.GENTLY,
        env={"PYTHONPATH": str(installed)},
    )
    assert f"free_disk {node.name}" in healed.mended
    assert not (data / FILE).exists()


def test_what_other_nodes_share_is_not_filled(installed: Path, lab_mongodb: Cluster) -> None:
    script = (
        "from pathlib import Path\n"
        "import sys\n"
        "from brownout.databases.adapter import adapter_for\n"
        "from brownout.faults.faults import Faults\n"
        "from brownout.inventory import inventory\n"
        "from brownout.run.events import EventLog\n"
        "cluster = inventory.load('lab-mongodb')\n"
        "faults = Faults(cluster, adapter_for(cluster), EventLog(Path(sys.argv[1])), float)\n"
        "faults.run('fill_disk', cluster.nodes[0])\n"
    )
    env = {**os.environ, "PYTHONPATH": str(installed)}
    asked = [sys.executable, "-c", script, str(installed / "events.ndjson")]
    said = subprocess.run(asked, capture_output=True, text=True, env=env)
    assert said.returncode == 1
    assert "nothing is touched: possible now: node `n1`: " in said.stderr
    assert "node `n1`: node `n2` has its data there too" in said.stderr
    assert not (installed / "events.ndjson").exists()
