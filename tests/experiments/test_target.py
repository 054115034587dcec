"""The role that a target asks for moves between the baseline and the fault, for real."""

import json
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import SteppingDown, adapter_for
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live


def test_the_member_that_is_primary_at_the_kill_is_killed_though_another_one_was_planned(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    go = tmp_path / "go"
    wait = f"until [ -e {go} ]; do sleep 0.1; done"
    experiment["method"].insert(0, {
        "type": "action", "name": "wait", "provider": {
            "type": "process", "path": "sh", "arguments": ["-c", wait], "timeout": 120},
    })  # fmt: skip
    cluster = ("--var", f"cluster={lab_mongodb.name}")
    process = chaos.start(experiment, tmp_path, *cluster, *chaos.GENTLY)
    accepted = '"method_started"'
    events = "runs/*/events.ndjson"
    await_true(lambda: any(accepted in p.read_text() for p in tmp_path.glob(events)), accepted)
    adapter = adapter_for(lab_mongodb)
    try:
        (planned,) = adapter.targets("primary", 1)
        assert isinstance(adapter, SteppingDown)
        adapter.step_down(planned, 10)
        await_whole(adapter)
        (now,) = adapter.targets("primary", 1)
    finally:
        adapter.close()
    go.touch()
    ran = chaos.finish(process, tmp_path)
    assert ran.directory is not None
    (killed,) = [e for e in ran.events if (e["name"], e["stage"]) == ("kill_node", "effective")]
    assert planned.name != now.name == killed["node"], ran.output
    assert (killed["evidence"]["role"], killed["evidence"]["role_asked"]) == ("primary", "primary")
    (moved,) = [event for event in ran.events if event["name"] == "target"]
    assert (moved["node"], moved["planned"]) == (now.name, planned.name)
    assert json.loads((ran.directory / "run.json").read_text())["experiment"]["target"] == now.name
    assert ran.deeds == [("kill_node", now.name), ("start_node", now.name)]
