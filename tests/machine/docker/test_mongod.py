"""A real replica set in containers of a recorded engine: killed, wiped, started, whole again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.waiting import await_whole

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for


@pytest.fixture
def adapter(contained: Cluster) -> Iterator[Adapter]:
    """Asks the lab, every member of which is a container."""
    adapter = adapter_for(contained)
    yield adapter
    adapter.close()


def test_a_primary_is_killed_wiped_and_started_and_the_set_is_whole_again(
    adapter: Adapter,
) -> None:
    await_whole(adapter)
    (node,) = adapter.targets("primary", 4711)
    host = host_for(node)
    with pytest.raises(Refused, match="it is running; stop it first"):
        host.wipe(adapter.data_directories(node))

    killed = host.stop("kill")
    wiped = host.wipe(adapter.data_directories(node))
    started = host.start()

    await_whole(adapter)
    assert wiped.evidence["directories"][0]["files_removed"] > 20
    assert killed.effective_monotonic < wiped.effective_monotonic < started.effective_monotonic


@pytest.mark.matrix
def test_a_wipe_under_load_is_planned_measured_and_judged_on_containers(
    contained: Cluster, tmp_path: Path
) -> None:
    path = tmp_path / "contained.yaml"
    document = contained.model_dump(mode="json", exclude={"lab", "name"}, exclude_defaults=True)
    for node in document["nodes"]:
        node["host"]["kind"] = "docker"
    path.write_text(yaml.safe_dump(document))
    environment = {"BROWNOUT_CLUSTER": str(path), "BROWNOUT_STATE": str(tmp_path / "state")}
    ran = chaos.run(
        chaos.quick(chaos.load("node-wipe"), chaos.LEAST_BASELINE_S), tmp_path, env=environment
    )
    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    effective = [event["name"] for event in ran.events if event["stage"] == "effective"]
    assert effective == ["kill_node", "wipe_node", "start_node"]
