"""A run that died is healed: what it had broken is put back, and until then nobody else begins."""

import json
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.forked_run import brownout
from tests.waiting import await_whole
from tests.wording import mentions

from brownout.base.errors import UndoFailed
from brownout.databases.adapter import adapter_for
from brownout.faults import cluster_record
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.heal import Asked, heal
from brownout.faults.open_runs import Claim
from brownout.faults.undos import broken, left
from brownout.inventory import inventory
from brownout.inventory.labs import running_inventory
from brownout.inventory.model import Cluster, Guards, Node
from brownout.machine.host import host_for
from brownout.run.events import Event, EventLog, read_events


def _events(path: Path) -> EventLog:
    return EventLog(path)


def test_a_break_counts_from_its_intent_on(tmp_path: Path) -> None:
    log = _events(tmp_path / "events.ndjson")
    log.intent("break", "kill_node", node="n1", undo={"action": "start_node"})
    assert broken(left(read_events(tmp_path / "events.ndjson"))) == {"n1": "start_node"}


def test_a_mend_counts_only_with_its_proof(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    log = _events(path)
    log.intent("break", "kill_node", node="n1", undo={"action": "start_node"})
    mend = log.intent("mend", "start_node", node="n1")
    assert broken(left(read_events(path))) == {"n1": "start_node"}
    log.effective(mend, None, 0.0, {"pid": 1})
    assert broken(left(read_events(path))) == {}


def test_starting_a_paused_node_does_not_mend_it(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    log = _events(path)
    log.intent("break", "pause_node", node="n1", undo={"action": "resume_node"})
    mend = log.intent("mend", "start_node", node="n1")
    log.effective(mend, None, 0.0, {"pid": 1, "already": True})
    assert broken(left(read_events(path))) == {"n1": "resume_node"}


@pytest.mark.parametrize(
    "wanted",
    [  # a wipe is the hardest of them to put back
        pytest.param("kill_node", marks=pytest.mark.matrix),
        "wipe_node",
        pytest.param("start_node", marks=pytest.mark.matrix),
    ],
)
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
def test_a_run_whose_record_is_gone_is_healed_where_its_nodes_are_named(
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
    with pytest.raises(UndoFailed) as failed:
        heal(dead, 60, said.append)
    words = f"start_node {first.name}, resume_node {second.name}"
    assert (
        f"the record of the run is gone, so nothing shows that it broke these nodes: {words}"
        in (str(failed.value))
    )
    assert not host_for(first).running().running
    assert host_for(second).running().paused
    healed = heal(dead, 60, said.append, Asked((first.name, second.name)))
    assert healed.mended == {first.name: "start_node", second.name: "resume_node"}
    assert healed.whole
    assert said[0] == f"not in the record of the run, and undone: {words}"


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
    named = {"directories": [str(directory)], "began": True}
    undo = {"action": "start_node"}
    _events(path).intent("break", "wipe_node", node=node.name, undo=undo, arguments=named)
    events = read_events(path)
    faults = Faults(fresh_lab, adapter, _events(path), lambda t: t, left(events))
    for file in directory.iterdir():
        if file.is_file():
            file.write_bytes(b"")  # nothing that a server could start on
    assert faults.put_back() == []
    await_whole(adapter)
    adapter.close()
    assert left(read_events(path)) == ()


def _half_wiped(node: Node, path: Path, **arguments: Any) -> list[Event]:
    """A record of a run that died in the middle of a wipe of `node`."""
    undo = {"action": "start_node"}
    _events(path).intent("break", "wipe_node", node=node.name, undo=undo, arguments=arguments)
    return read_events(path)


def test_a_wipe_that_was_cut_short_is_finished_only_where_every_guard_allows_it(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    adapter = adapter_for(lab_mongodb)
    node = adapter.targets("secondary", 1)[0]
    (directory,) = adapter.data_directories(node)
    decoy = tmp_path / "decoy"
    decoy.mkdir()
    for place in (directory, decoy):
        (place / "untouched").write_text("still here")
    own, other = {"directories": [str(directory)]}, {"directories": [str(decoy)]}
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({**other, "began": True}, {}, f"names `{decoy}`, but its own .* names `{directory}`"),
        (own, {}, "the record of its wipe names no directory"),  # of another version
        ({**own, "began": True}, {"allow_data_loss": False}, "allow_data_loss: true"),
        ({**own, "began": True}, {"guards": Guards(deny_acts=("wipe",))}, "denies wipe"),
        ({**own, "began": True}, {"guards": Guards(deny_nodes=(node.name,))}, "denies node"),
        ({**own, "began": True}, {"environment": "production"}, "is a production cluster"),
        ({**own, "began": True}, {"guards": Guards(allowed_hours=(_not_today(),))}, "allowed is"),
    ]
    host_for(node).stop("kill")
    try:
        for number, (arguments, settings, reason) in enumerate(cases):
            path = tmp_path / f"{number}.ndjson"
            events = _half_wiped(node, path, **arguments)
            cluster = lab_mongodb.model_copy(update=settings)
            found = Faults(cluster, adapter, _events(path), lambda t: t, left(events))
            (failure,) = found.put_back()
            assert re.search(reason, failure), failure
            assert "is left stopped" in failure
            assert "empty its data directory yourself, start it, and heal again" in failure
            assert found.broken == {node.name: "finish_wipe then start_node"}
            assert not host_for(node).running().running
            assert (directory / "untouched").read_text() == "still here"
            assert (decoy / "untouched").read_text() == "still here"
        (directory / "untouched").unlink()
        host_for(node).start()  # by hand
        assert found.put_back() == []
        assert found.pending == ()
    finally:
        host_for(node).start()
        await_whole(adapter)
        adapter.close()


def _not_today() -> str:
    """A window of allowed hours that is not now."""
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    return f"{days[(datetime.now(UTC).weekday() + 3) % 7]} 00:00-01:00 UTC"


def test_production_is_confirmed_to_heal_as_it_is_to_a_run(
    lab_mongodb: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    lab_file = running_inventory(lab_mongodb.name)
    assert lab_file is not None
    settings = {**yaml.safe_load(lab_file.read_text()), "name": lab_mongodb.name}
    settings = {key: value for key, value in settings.items() if key != "lab"}
    file = lab_file.with_name("production.yaml")
    file.write_text(yaml.safe_dump({**settings, "environment": "production"}))
    run = tmp_path / "run"
    run.mkdir()
    cluster_record.write(run, file, inventory.load(file))
    adapter = adapter_for(lab_mongodb)
    node = adapter.targets("secondary", 1)[0]
    (directory,) = adapter.data_directories(node)
    host_for(node).stop("kill")
    (directory / "half").write_text("of it")
    _half_wiped(node, run / "events.ndjson", directories=[str(directory)], began=True)
    dead = Claim(lab_mongodb.name, str(run), str(file), False, 2**22 + 1, 1, ("chaos",))
    try:
        with pytest.raises(UndoFailed, match="BROWNOUT_CONFIRM"):
            heal(dead, 60, lambda _: None)
        assert (directory / "half").exists()
        monkeypatch.setenv("BROWNOUT_CONFIRM", lab_mongodb.name)
        assert heal(dead, 60, lambda _: None).whole
        assert not (directory / "half").exists()
    finally:
        file.unlink()
        host_for(node).start()
        await_whole(adapter)
        adapter.close()


@pytest.mark.parametrize("type", ["break", "change"])
def test_an_undo_that_this_version_does_not_know_is_an_error_and_starts_nothing(
    lab_mongodb: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, type: str
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    first, second = lab_mongodb.nodes[:2]
    run = tmp_path / "run"
    run.mkdir()
    cluster_record.write(run, lab_mongodb.name, lab_mongodb)
    log = _events(run / "events.ndjson")
    log.intent(type, "drown_node", node=first.name, undo={"action": "dry_node"})
    log.intent(type, "drown_all", undo={"action": "dry_all"})
    log.intent("break", "pause_node", node=second.name, undo={"action": "resume_node"})
    host_for(second).pause()
    dead = Claim(lab_mongodb.name, str(run), lab_mongodb.name, False, 2**22 + 1, 1, ("chaos",))
    with pytest.raises(UndoFailed) as failed:
        heal(dead, 60, lambda _: None)
    said = str(failed.value)
    assert f"node `{first.name}`: its record says that it is put back by `dry_node`" in said
    assert "the cluster: its record says that it is put back by `dry_all`" in said
    assert not host_for(second).running().paused
    with closing(adapter_for(lab_mongodb)) as adapter:
        await_whole(adapter)
    assert "start_node" not in [event.name for event in read_events(run / "events.ndjson")]


def test_an_unknown_undo_is_an_error_in_the_run_as_well(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    node = lab_mongodb.nodes[0]
    waiting = (PendingUndo("dry_node", node.name),)
    adapter = adapter_for(lab_mongodb)
    found = Faults(lab_mongodb, adapter, _events(tmp_path / "e"), lambda t: t, waiting)
    (failure,) = found.put_back()
    adapter.close()
    assert mentions(failure, node.name, "`dry_node`")
    assert found.pending == waiting
    assert not (tmp_path / "e").exists()


def test_a_node_that_the_inventory_does_not_know_any_more_keeps_no_other_from_being_put_back(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    node = lab_mongodb.nodes[0]
    host_for(node).pause()
    adapter = adapter_for(lab_mongodb)
    waiting = [PendingUndo("start_node", "n99"), PendingUndo("resume_node", node.name)]
    found = Faults(lab_mongodb, adapter, _events(tmp_path / "e"), lambda t: t, waiting)
    (failure,) = found.put_back()
    assert "n99" in failure
    assert not host_for(node).running().paused
    await_whole(adapter)
    adapter.close()


def test_a_run_that_would_wipe_what_may_not_be_wiped_touches_nothing_and_neither_does_heal(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    with closing(adapter_for(lab_mongodb)) as adapter:
        node = adapter.targets("secondary", 1)[0]
        (directory,) = adapter.data_directories(node)
    (directory / "written before").write_text("still here")
    (directory / "elsewhere").symlink_to(tmp_path)
    before = host_for(node).running().pid
    environment = {"BROWNOUT_STATE": str(tmp_path / "state")}
    try:
        wanted = ("--var", f"target={node.name}")
        ran = chaos.run(chaos.load("node-wipe"), tmp_path, *wanted, env=environment)
    finally:
        (directory / "elsewhere").unlink()
    assert ran.code == 1
    assert "the directory: " in ran.output
    assert str(directory / "elsewhere") in ran.output
    assert ran.directory is None
    healed = brownout("heal", env=environment)
    assert healed.returncode == 0, healed.stderr
    assert host_for(node).running().pid == before
    assert (directory / "written before").read_text() == "still here"
    (directory / "written before").unlink()
