"""A stranger's fault: one Python file of another package, found by its entry point, on real mongod.

Nothing of brownout is changed for it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.forked_run import brownout

from brownout.databases.adapter import adapter_for
from brownout.inventory import labs
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

PACKAGE = Path(__file__).parent / "low_priority"


@pytest.fixture(scope="module")
def installed(install: Callable[[Path], Path]) -> Path:
    """Where the package is installed."""
    return install(PACKAGE)


@pytest.fixture
def node(lab_mongodb: Cluster) -> Node:
    with closing(adapter_for(lab_mongodb)) as adapter:
        return adapter.targets("secondary", 1)[0]


def niceness(node: Node) -> int:
    return os.getpriority(os.PRIO_PROCESS, host_for(node).running().pid or 0)


def experiment(node: Node) -> dict[str, Any]:
    """`node-pause`, with this fault in place of the pause."""
    found = chaos.quick(chaos.load("node-pause"))
    found["title"] = "A node is served last"
    found["extensions"][0]["needs"] = ["low_priority"]
    del found["configuration"]["undo_after_s"]
    for activity in found["method"]:
        provider = activity["provider"]
        if provider["func"] == "pause_node":
            provider.update(func="lower_priority", arguments={"node": node.name, "niceness": 19})
        if provider["func"] == "resume_node":
            provider.update(func="restore_priority", arguments={"node": node.name})
    return found


@pytest.mark.matrix
def test_a_run_lowers_it_puts_it_back_and_tells_of_it_in_the_faults_own_words(
    installed: Path, lab_mongodb: Cluster, node: Node, tmp_path: Path
) -> None:
    before = niceness(node)
    env = {"PYTHONPATH": str(installed), "BROWNOUT_STATE": str(tmp_path / "state")}
    file = tmp_path / "low-priority.json"
    file.write_text(json.dumps(experiment(node)))

    planned = brownout("plan", str(file), env=env)
    line = f"{node.name} ({node.address}): set the niceness of its threads to 19"
    assert line in planned.stdout, planned.stderr
    assert "yes  supports low_priority" in planned.stdout
    listed = brownout("list", "actions", env=env).stdout
    assert re.search(r"node\.lower_priority +Give every thread of `node` this `niceness`", listed)

    ran = chaos.run(experiment(node), tmp_path, *chaos.GENTLY, env=env)
    assert ("lower_priority", node.name) in ran.deeds, ran.output
    assert ("restore_priority", node.name) in ran.deeds
    (lowered,) = [
        e for e in ran.events if e["stage"] == "effective" and e["name"] == "lower_priority"
    ]
    assert lowered["evidence"]["niceness"] == 19
    (restored,) = [
        e for e in ran.events if e["stage"] == "effective" and e["name"] == "restore_priority"
    ]
    assert restored["evidence"]["watched"]["until_undo"], "the fault is looked at while it lasts"
    assert ran.impact["ledger"]["state"] == "clean"
    assert niceness(node) == before
    assert ran.directory is not None
    page = brownout("report", str(ran.directory), env=env)
    assert page.returncode == 0, page.stderr
    told = (ran.directory / "report.html").read_text()
    assert f"{node.name} was served last by the scheduler" in told

    inventory = labs.directory(lab_mongodb.name) / labs.INVENTORY
    refused = inventory.with_name("denying.yaml")
    settings = yaml.safe_load(inventory.read_text())
    refused.write_text(yaml.safe_dump({**settings, "guards": {"deny_acts": ["low_priority"]}}))
    said = brownout("plan", str(file), "--set", f"cluster={refused}", env=env)
    assert "NO   deny list: the inventory denies low_priority" in said.stdout
    unknown = brownout("plan", "node-pause", "--set", f"cluster={refused}", env={})
    assert "deny_acts[0]: found 'low_priority', wanted one of add, adjust" in unknown.stderr
    refused.unlink()


@pytest.mark.matrix  # in CI a node is healed after a run that was killed (tests/faults)
def test_the_priority_of_a_node_is_restored_after_the_run_was_killed(
    installed: Path, lab_mongodb: Cluster, node: Node, tmp_path: Path
) -> None:
    before = niceness(node)
    healed = kill_harness.kill_and_heal(
        lab_mongodb,
        tmp_path / "run",
        "lower_priority",
        0.5,
        experiment(node),
        chaos.GENTLY,
        env={"PYTHONPATH": str(installed)},
    )
    assert f"restore_priority {node.name}" in healed.mended
    assert niceness(node) == before


def test_what_cannot_be_lowered_is_left_alone(
    installed: Path, lab_mongodb: Cluster, node: Node
) -> None:
    script = (
        "from pathlib import Path\n"
        "import sys\n"
        "from brownout.databases.adapter import adapter_for\n"
        "from brownout.faults.faults import Faults\n"
        "from brownout.inventory import inventory\n"
        "from brownout.run.events import EventLog\n"
        "cluster = inventory.load('lab-mongodb')\n"
        "faults = Faults(cluster, adapter_for(cluster), EventLog(Path(sys.argv[1])), float)\n"
        "faults.run('lower_priority', cluster.nodes[0], niceness=-20)\n"
    )
    before = niceness(lab_mongodb.nodes[0])
    env = {**os.environ, "PYTHONPATH": str(installed)}
    asked = [sys.executable, "-c", script, str(installed / "events.ndjson")]
    said = subprocess.run(asked, capture_output=True, text=True, env=env)
    assert said.returncode == 1
    assert "nothing is touched: possible now: node `n1`: found a niceness of" in said.stderr
    assert not (installed / "events.ndjson").exists()
    assert niceness(lab_mongodb.nodes[0]) == before
