"""A run that died is healed: what it had broken is put back, and until then nobody else begins."""

import json
import time
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.cluster.adapter import adapter_for
from brownout.cluster.host import host_for
from brownout.cluster.model import Cluster
from brownout.run.events import EventLog, read_events
from brownout.session.faults import Faults
from brownout.session.heal import half_wiped, heal, still_broken
from brownout.session.open_runs import Claim


def _events(path: Path) -> EventLog:
    return EventLog(path)


def test_a_break_counts_from_its_intent_on(tmp_path: Path) -> None:
    log = _events(tmp_path / "events.ndjson")
    log.intent("break", "kill_node", node="n1", undo={"action": "start_node"})
    assert still_broken(read_events(tmp_path / "events.ndjson")) == {"n1": "start_node"}


def test_a_mend_counts_only_with_its_proof(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    log = _events(path)
    log.intent("break", "kill_node", node="n1", undo={"action": "start_node"})
    mend = log.intent("mend", "start_node", node="n1")
    assert still_broken(read_events(path)) == {"n1": "start_node"}
    log.effective(mend, None, 0.0, {"pid": 1})
    assert still_broken(read_events(path)) == {}


def test_starting_a_paused_node_does_not_mend_it(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    log = _events(path)
    log.intent("break", "pause_node", node="n1", undo={"action": "resume_node"})
    mend = log.intent("mend", "start_node", node="n1")
    log.effective(mend, None, 0.0, {"pid": 1, "already": True})
    assert still_broken(read_events(path)) == {"n1": "resume_node"}


@pytest.mark.parametrize("wanted", ["kill_node", "wipe_node", "start_node"])
def test_a_run_killed_in_mid_fault_is_healed_and_blocks_others_until_then(
    wanted: str, fresh_lab: Cluster, tmp_path: Path
) -> None:
    result = kill_harness.kill_and_heal(fresh_lab, tmp_path / "run", wanted)
    assert "n" in result.mended


def test_the_next_run_refuses_until_the_cluster_is_healed(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    state = tmp_path / "state" / "open"
    state.mkdir(parents=True)
    dead = {"cluster": lab_mongodb.name, "run": str(tmp_path), "inventory": lab_mongodb.name,
            "brought_up": False, "pid": 2**22 + 1, "started": 1, "command": ["chaos"]}  # fmt: skip
    (state / f"{lab_mongodb.name}.json").write_text(json.dumps(dead))
    ran = chaos.run(
        chaos.load("stepdown"), tmp_path, env={"BROWNOUT_STATE": str(tmp_path / "state")}
    )
    assert ran.code == 1
    assert "brownout heal" in ran.output
    assert ran.directory is None


@pytest.mark.parametrize("left", ["nothing", "a directory", "half a line"])
def test_a_run_whose_record_is_gone_is_healed_by_looking_at_the_nodes(
    lab_mongodb: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    run = tmp_path / "run"
    if left != "nothing":
        run.mkdir()
    if left == "half a line":
        (run / "events.ndjson").write_text('{"id": 4, "stage": "intent", "type": "bre')
    first, second = lab_mongodb.nodes[:2]
    dead = Claim(lab_mongodb.name, str(run), lab_mongodb.name, False, 2**22 + 1, 1, ("chaos",))
    host_for(first).stop("kill")
    host_for(second).pause()
    said: list[str] = []
    healed = heal(dead, 60, said.append)
    assert healed.mended == {first.name: "start_node", second.name: "resume_node"}
    assert healed.whole
    assert f"the run's record does not say why {first.name}, {second.name}" in said[0]


def test_a_wipe_that_was_cut_short_is_finished_before_the_node_is_started(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    adapter = adapter_for(fresh_lab)
    node = adapter.targets("secondary", 1)[0]
    (directory,) = adapter.data_directories(node)
    host_for(node).stop("kill")
    for mark in ("WiredTiger", "WiredTiger.wt", "mongod.lock", "storage.bson"):
        (directory / mark).unlink(missing_ok=True)
    path = tmp_path / "events.ndjson"
    named = {"directories": [str(directory)]}
    undo = {"action": "start_node"}
    _events(path).intent("break", "wipe_node", node=node.name, undo=undo, arguments=named)
    events = read_events(path)
    faults = Faults(
        fresh_lab, adapter, _events(path), lambda t: t, still_broken(events), half_wiped(events)
    )
    assert faults.put_back() == []
    deadline = time.monotonic() + 60
    while not adapter.stable("whole").reached:
        assert time.monotonic() < deadline, adapter.stable("whole").detail
        time.sleep(0.1)
    adapter.close()
    assert still_broken(read_events(path)) == {}
    assert half_wiped(read_events(path)) == {}
