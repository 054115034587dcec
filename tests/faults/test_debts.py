"""What a planned change leaves to be put back: pure, and the same from memory and from a file."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brownout.faults.debts import Debt, away, by_place, is_open, left, members, owe, paid, pays
from brownout.faults.heal import still_broken
from brownout.inventory.model import Node
from brownout.run.events import EventLog, read_events

N1, N2, N6 = (Node(name=name, address=f"127.0.0.1:{port}") for name, port in
              (("n1", 3001), ("n2", 3002), ("n6", 3006)))  # fmt: skip
ADDED = Debt("remove_node", "n6")
REMOVED = Debt("add_node", "n2")


def _log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path / "events.ndjson")


def _left(tmp_path: Path) -> tuple[Debt, ...]:
    return left(read_events(tmp_path / "events.ndjson"))


def test_a_change_counts_from_its_intent_on(tmp_path: Path) -> None:
    _log(tmp_path).intent("break", "add_node", node="n6", undo=ADDED.undo())
    assert _left(tmp_path) == (ADDED,)


def test_a_payment_counts_only_with_its_proof(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "add_node", node="n6", undo=ADDED.undo())
    payment = log.intent("mend", "remove_node", node="n6")
    assert _left(tmp_path) == (ADDED,)
    log.effective(payment, 1.0, 0.0, {"left": {}})
    assert _left(tmp_path) == ()


def test_a_setting_goes_back_to_the_first_value(tmp_path: Path) -> None:
    log = _log(tmp_path)
    for before, value in ((2, 3), (3, 4)):
        undo = Debt("adjust", None, "replication_factor", before).undo()
        arguments = {"setting": "replication_factor", "value": value}
        entry = log.intent("break", "adjust", undo=undo, arguments=arguments)
        log.effective(entry, 1.0, 0.0, {"replication_factor": value})
    assert _left(tmp_path) == (Debt("adjust", None, "replication_factor", 2),)


def test_what_is_put_back_of_one_setting_leaves_the_other(tmp_path: Path) -> None:
    log = _log(tmp_path)
    speed = {"n1": {"migrate_threads": 1}}
    for debt in (
        Debt("adjust", None, "replication_factor", 2),
        Debt("adjust", None, "migration_speed", speed),
    ):
        log.intent("change", "adjust", undo=debt.undo(), arguments={"setting": debt.setting})
    entry = log.intent("mend", "adjust", arguments={"setting": "replication_factor", "value": 2})
    log.effective(entry, 1.0, 0.0, {"replication_factor": 2})
    assert _left(tmp_path) == (Debt("adjust", None, "migration_speed", speed),)


def test_a_setting_that_a_new_node_is_given_too_is_still_owed(tmp_path: Path) -> None:
    log = _log(tmp_path)
    debt = Debt("adjust", None, "migration_speed", {"n1": 1})
    arguments = {"setting": "migration_speed", "value": {"migrate_threads": 4}}
    for undo in (debt.undo(), None):
        entry = log.intent("change", "adjust", undo=undo, arguments=arguments)
        log.effective(entry, 1.0, 0.0, {"n1": 4})
    assert _left(tmp_path) == (debt,)


def test_a_changed_node_is_not_taken_for_a_broken_one(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "remove_node", node="n2", undo=REMOVED.undo())
    assert still_broken(read_events(tmp_path / "events.ndjson")) == {}
    assert _left(tmp_path) == (REMOVED,)


def test_the_cluster_consists_of_who_was_added_and_not_of_who_was_removed() -> None:
    nodes, every = [N1, N2], [N1, N2, N6]
    assert members(nodes, every, ()) == [N1, N2]
    assert members(nodes, every, (ADDED,)) == [N1, N2, N6]
    assert members(nodes, every, (REMOVED, ADDED)) == [N1, N6]


@given(st.lists(st.sampled_from(["n1", "n2", "n6"]), max_size=12))
def test_doing_and_undoing_owes_nothing_in_the_end(nodes: list[str]) -> None:
    debts: tuple[Debt, ...] = ()
    member = {"n1": True, "n2": True, "n6": False}
    for node in [*nodes, *nodes[::-1]]:
        done, undo = ("remove_node", "add_node") if member[node] else ("add_node", "remove_node")
        paying = pays(debts, done, node)
        debts = paid(debts, done, node) if paying else owe(debts, Debt(undo, node))
        member[node] = not member[node]
    assert debts == ()


def test_what_is_owed_is_said_by_place() -> None:
    owed = (REMOVED, Debt("adjust", None, "replication_factor", 2), ADDED)
    assert by_place(owed) == {
        "n2": "add_node",
        "the cluster": "replication_factor back to 2",
        "n6": "remove_node",
    }


def test_words_say_what_is_to_be_done() -> None:
    values: list[tuple[Debt, Any]] = [
        (ADDED, "remove_node n6"),
        (Debt("adjust", None, "replication_factor", 2), "replication_factor back to 2"),
        (Debt("adjust", "n2", "oplog_mb", 990.0), "oplog_mb n2 back to 990.0"),
    ]
    assert [debt.words() for debt, _ in values] == [words for _, words in values]


def test_another_size_is_owed_until_a_mend_and_not_by_another_resize(tmp_path: Path) -> None:
    log, before = _log(tmp_path), Debt("resize_cluster", None, value={"replicationSpecs": []})
    for value in (before.value, {"replicationSpecs": ["larger"]}):
        entry = log.intent("break", "resize_cluster", undo={"action": "resize_cluster",
                                                            "value": value})  # fmt: skip
        log.effective(entry, 1.0, 0.0, {"member": "h1"})
    assert _left(tmp_path) == (before,)
    log.effective(log.intent("mend", "resize_cluster"), 2.0, 0.0, {"found": "it has that size"})
    assert _left(tmp_path) == ()


def test_what_keeps_members_away_is_known_until_it_is_ended(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.intent("break", "start_outage", undo=Debt("end_outage", None).undo())
    log.intent("change", "set_maintenance_window", undo=Debt("set_maintenance_window", None).undo())
    assert away(_left(tmp_path)) == {"the cluster": "end_outage"}
    assert is_open(_left(tmp_path))
    log.effective(log.intent("mend", "end_outage"), 2.0, 0.0, {"members": 3})
    assert not is_open(_left(tmp_path))
    assert by_place(_left(tmp_path)) == {"the cluster": "set_maintenance_window"}
