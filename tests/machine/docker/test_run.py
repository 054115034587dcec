"""A whole run on nodes that are containers of a recorded engine: real servers of each database."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.waiting import await_whole

from brownout.databases.adapter import adapter_for
from brownout.infra import lab
from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    "name",
    ["lab-aerospike", "lab-cassandra", "lab-etcd", "lab-mongodb", "lab-postgresql", "lab-redis"],
)
def test_a_wipe_under_load_is_planned_measured_and_judged_on_containers(
    name: str,
    contain: Callable[[Cluster], Cluster],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    try:
        contained = contain(lab.up(name))
        adapter = adapter_for(contained)
        await_whole(adapter)
        adapter.close()
        ran = wiped(contained, tmp_path)
    finally:
        lab.down(name)
    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    effective = [event["name"] for event in ran.events if event["stage"] == "effective"]
    assert effective == ["kill_node", "wipe_node", "start_node"]


def wiped(contained: Cluster, tmp_path: Path) -> chaos.Ran:
    """Wipe a node of a cluster by a short run, and return the run."""
    path = tmp_path / "contained.yaml"
    document = contained.model_dump(mode="json", exclude={"lab", "name"}, exclude_defaults=True)
    for node in document["nodes"]:
        node["host"]["kind"] = "docker"
    path.write_text(yaml.safe_dump(document))
    environment = {"BROWNOUT_CLUSTER": str(path), "BROWNOUT_STATE": str(tmp_path / "state")}
    experiment = chaos.quick(chaos.load("node-wipe"), chaos.LEAST_BASELINE_S)
    return chaos.run(experiment, tmp_path, env=environment)
