"""What is pending: pure, the same from memory and from a file, in an order that can work."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.faults import registry
from brownout.faults.act import PendingUndo
from brownout.faults.fault import Action, Fault, HostAction, NodeFault, NodeUndo, Undo
from brownout.faults.undos import (
    add,
    away,
    broken,
    by_place,
    describe,
    in_order,
    left,
    members,
    resolve,
    resolves,
)
from brownout.inventory.model import Node
from brownout.run.events import EventLog, read_events

#: What the engine of faults reads of an action.
BASES = (Action, Fault, HostAction, NodeFault, NodeUndo, Undo)
N1, N2, N6 = (Node(name=name, address=f"127.0.0.1:{port}") for name, port in
              (("n1", 3001), ("n2", 3002), ("n6", 3006)))  # fmt: skip
ADDED = PendingUndo("remove_node", "n6")
REMOVED = PendingUndo("add_node", "n2")


def _log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path / "events.ndjson")


def _left(tmp_path: Path) -> tuple[PendingUndo, ...]:
    return left(read_events(tmp_path / "events.ndjson"))


@pytest.mark.parametrize("action", [*registry.faults().values(), *registry.undos().values()])
def test_an_action_sets_only_what_a_base_declares(action: Action) -> None:
    """An undo under another attribute is never in the record, so it is never done."""
    mro = [each for each in type(action).__mro__ if not issubclass(Action, each)]
    read = {name for base in BASES for name in (*vars(base), *base.__annotations__)}
    read |= {name for each in mro for name in vars(each).get("__annotations__", ())}
    own = {
        name
        for each in mro
        for name, value in vars(each).items()
        if not name.startswith("_") and not callable(value)
    }
    assert own <= read
    if isinstance(action, Fault) and action.undo_name:
        assert action.undo_name in registry.undos()


def test_an_undo_without_a_name_cannot_be_left() -> None:
    with pytest.raises(ValueError, match="name"):
        PendingUndo("", "n1")


def test_a_change_counts_from_its_intent_on(tmp_path: Path) -> None:
    _log(tmp_path).intent("break", "add_node", node="n6", undo=ADDED.event())
    assert _left(tmp_path) == (ADDED,)


def test_an_undo_counts_only_with_its_proof(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "add_node", node="n6", undo=ADDED.event())
    undo = log.intent("mend", "remove_node", node="n6")
    assert _left(tmp_path) == (ADDED,)
    log.effective(undo, 1.0, 0.0, {"left": {}})
    assert _left(tmp_path) == ()


def test_what_was_refused_leaves_what_was_pending_before(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "pause_node", node="n1", undo={"action": "resume_node"})
    kill = log.intent("break", "kill_node", node="n1", undo={"action": "start_node"})
    assert _left(tmp_path) == (PendingUndo("start_node", "n1"),)
    log.refused(kill, "no privilege")
    assert _left(tmp_path) == (PendingUndo("resume_node", "n1"),)


def test_a_setting_goes_back_to_the_first_value(tmp_path: Path) -> None:
    log = _log(tmp_path)
    for before, value in ((2, 3), (3, 4)):
        undo = PendingUndo("adjust", None, "replication_factor", before).event()
        arguments = {"setting": "replication_factor", "value": value}
        entry = log.intent("break", "adjust", undo=undo, arguments=arguments)
        log.effective(entry, 1.0, 0.0, {"replication_factor": value})
    assert _left(tmp_path) == (PendingUndo("adjust", None, "replication_factor", 2),)


def test_what_is_put_back_of_one_setting_leaves_the_other(tmp_path: Path) -> None:
    log = _log(tmp_path)
    speed = {"n1": {"migrate_threads": 1}}
    for pending in (
        PendingUndo("adjust", None, "replication_factor", 2),
        PendingUndo("adjust", None, "migration_speed", speed),
    ):
        log.intent("change", "adjust", undo=pending.event(), arguments={"setting": pending.setting})
    entry = log.intent("mend", "adjust", arguments={"setting": "replication_factor", "value": 2})
    log.effective(entry, 1.0, 0.0, {"replication_factor": 2})
    assert _left(tmp_path) == (PendingUndo("adjust", None, "migration_speed", speed),)


def test_a_setting_that_a_new_node_is_given_too_is_still_pending(tmp_path: Path) -> None:
    log = _log(tmp_path)
    speed = PendingUndo("adjust", None, "migration_speed", {"n1": 1})
    arguments = {"setting": "migration_speed", "value": {"migrate_threads": 4}}
    for undo in (speed.event(), None):
        entry = log.intent("change", "adjust", undo=undo, arguments=arguments)
        log.effective(entry, 1.0, 0.0, {"n1": 4})
    assert _left(tmp_path) == (speed,)


def test_a_changed_node_is_not_taken_for_a_broken_one(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "remove_node", node="n2", undo=REMOVED.event())
    assert broken(_left(tmp_path)) == {}
    assert _left(tmp_path) == (REMOVED,)


def test_the_cluster_consists_of_who_was_added_and_not_of_who_was_removed() -> None:
    nodes, every = [N1, N2], [N1, N2, N6]
    assert members(nodes, every, ()) == [N1, N2]
    assert members(nodes, every, (ADDED,)) == [N1, N2, N6]
    assert members(nodes, every, (REMOVED, ADDED)) == [N1, N6]


@given(st.lists(st.sampled_from(["n1", "n2", "n6"]), max_size=12))
def test_doing_and_undoing_leaves_nothing_in_the_end(nodes: list[str]) -> None:
    pending: tuple[PendingUndo, ...] = ()
    member = {"n1": True, "n2": True, "n6": False}
    for node in [*nodes, *nodes[::-1]]:
        done, undo = ("remove_node", "add_node") if member[node] else ("add_node", "remove_node")
        back = resolves(pending, done, node)
        pending = resolve(pending, done, node) if back else add(pending, PendingUndo(undo, node))
        member[node] = not member[node]
    assert pending == ()


def test_what_is_pending_is_said_by_place() -> None:
    pending = (REMOVED, PendingUndo("adjust", None, "replication_factor", 2), ADDED)
    assert by_place(pending) == {
        "n2": "add_node",
        "the cluster": "replication_factor back to 2",
        "n6": "remove_node",
    }


def test_words_say_what_is_to_be_done() -> None:
    values: list[tuple[PendingUndo, Any]] = [
        (ADDED, "remove_node n6"),
        (PendingUndo("adjust", None, "replication_factor", 2), "replication_factor back to 2"),
        (PendingUndo("adjust", "n2", "oplog_mb", 990.0), "oplog_mb n2 back to 990.0"),
    ]
    assert [describe(each) for each, _ in values] == [words for _, words in values]


def test_another_size_is_pending_until_a_mend_and_not_by_another_resize(tmp_path: Path) -> None:
    log, before = (
        _log(tmp_path),
        PendingUndo("resize_cluster", None, value={"replicationSpecs": []}),
    )
    for value in (before.value, {"replicationSpecs": ["larger"]}):
        entry = log.intent("break", "resize_cluster", undo={"action": "resize_cluster",
                                                            "value": value})  # fmt: skip
        log.effective(entry, 1.0, 0.0, {"member": "h1"})
    assert _left(tmp_path) == (before,)
    log.effective(log.intent("mend", "resize_cluster"), 2.0, 0.0, {"found": "it has that size"})
    assert _left(tmp_path) == ()


def test_what_keeps_members_away_is_known_until_it_is_ended(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "start_outage", undo=PendingUndo("end_outage", None).event())
    log.intent(
        "change", "set_maintenance_window", undo=PendingUndo("set_maintenance_window", None).event()
    )
    assert away(_left(tmp_path)) == {"the cluster": "end_outage"}
    assert away(_left(tmp_path))
    log.effective(log.intent("mend", "end_outage"), 2.0, 0.0, {"members": 3})
    assert not away(_left(tmp_path))
    assert by_place(_left(tmp_path)) == {"the cluster": "set_maintenance_window"}


@pytest.mark.parametrize(
    ("breaks", "waiting"),
    [
        (["start_node"], "start_node"),
        (["start_node", "start_node"], "start_node"),
        (["resume_node", "start_node"], "start_node"),
        (["unquiesce_node", "start_node"], "start_node then unquiesce_node"),
        (["start_node", "unquiesce_node"], "start_node then unquiesce_node"),
        (["unquiesce_node", "resume_node", "start_node"], "start_node then unquiesce_node"),
        (["start_node", "finish_wipe"], "finish_wipe then start_node"),
    ],
)
def test_a_process_is_put_right_before_its_database_is_asked(
    breaks: list[str], waiting: str
) -> None:
    pending: tuple[PendingUndo, ...] = ()
    for undo in breaks:
        pending = add(pending, PendingUndo(undo, "n1"))
    assert broken(pending) == {"n1": waiting}


def test_an_undo_resolves_only_itself() -> None:
    pending = (PendingUndo("start_node", "n1"), PendingUndo("unquiesce_node", "n1"))
    assert resolve(pending, "start_node", "n1") == pending[1:]
    assert resolve(pending, "resume_node", "n1") == pending
    assert resolve(pending, "start_node", "n2") == pending


def test_nodes_come_before_changes_a_half_wiped_one_last_and_the_latest_change_first() -> None:
    wiped = (PendingUndo("start_node", "n1"), PendingUndo("finish_wipe", "n1"))
    paused = PendingUndo("resume_node", "n2")
    factor = PendingUndo("adjust", None, "replication_factor", 2)
    found = list(in_order((factor, *wiped, ADDED, paused)))
    assert found == [[paused], [wiped[1], wiped[0]], [ADDED], [factor]]


def test_a_wipe_that_is_not_proven_is_to_be_finished_unless_another_version_wrote_it(
    tmp_path: Path,
) -> None:
    log, start = _log(tmp_path), PendingUndo("start_node", "n1")
    named = {"directories": ["/data/n1"], "began": True}
    wipe = log.intent("break", "wipe_node", node="n1", undo=start.event(), arguments=named)
    finish = PendingUndo("finish_wipe", "n1", value=(Path("/data/n1"),))
    assert _left(tmp_path) == (start, finish)
    log.effective(wipe, 1.0, 0.0, {"emptied": 1})
    assert _left(tmp_path) == (start,)
    old = {"directories": ["/data/n1"]}
    log.intent("break", "wipe_node", node="n2", undo=start.event(), arguments=old)
    assert _left(tmp_path)[2:] == (PendingUndo("finish_wipe", "n2", value=()),)
