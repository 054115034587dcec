"""The contract of a fault, for real: made on whom it was meant for, for as long as it was meant."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import SteppingDown, adapter_for
from brownout.inventory.model import Cluster

pytestmark = pytest.mark.live


def _events(where: Path) -> list[dict[str, Any]]:
    text = "".join(path.read_text() for path in where.glob("runs/*/events.ndjson"))
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _paused(where: Path) -> list[dict[str, Any]]:
    return [e for e in _events(where) if (e["name"], e["stage"]) == ("pause_node", "effective")]


def test_a_pause_that_somebody_ends_is_inconclusive_and_has_its_true_length_everywhere(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-pause"), chaos.LEAST_BASELINE_S)
    cluster = ("--var", f"cluster={lab_etcd.name}", "--var", "hang_s=5")
    process = chaos.start(experiment, tmp_path, *cluster, *chaos.GENTLY)
    await_true(lambda: _paused(tmp_path), "the pause")
    (paused,) = _paused(tmp_path)
    os.kill(paused["evidence"]["pid"], signal.SIGCONT)
    ran = chaos.finish(process, tmp_path)
    (broken,) = [event for event in ran.events if event["type"] == "contract"]
    assert (broken["name"], broken["node"], broken["of"]) == (
        "duration",
        paused["node"],
        paused["id"],
    )
    assert broken["last_seen"] <= broken["first_not"] <= paused["t"] + 4
    (fault,) = ran.impact["faults"]
    assert fault["events"][0]["evidence"]["lasted_s"][1] < 4
    assert fault["events"][1]["evidence"]["watched"]["until_undo"] is False
    conditions = {check["name"]: check for check in ran.impact["validity"]}
    assert conditions["contract_kept"]["ok"] is False
    assert ran.impact["verdict"] == "inconclusive", ran.output
    assert f"pause_node {paused['node']}, " in ran.output


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
