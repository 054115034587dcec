"""What follows from the nodes' own words."""

import pytest

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.info import is_error, pairs
from brownout.databases.aerospike.view import (
    View,
    judge,
    member_of,
    quiesced,
    signature_of,
    stable_command,
)


def view(node: str, key: str = "ABC", principal: str = "A5", **more: str) -> View:
    told = {"cluster_size": "5", "cluster_key": key, "cluster_principal": principal}
    told |= {"cluster_is_member": "true", **more}
    text = ";".join(f"{name}={value}" for name, value in told.items())
    return View(node, "127.0.0.1:3000", {"statistics": text, "node": node})


SILENT = View("A9", "127.0.0.1:9", error="it does not answer")


@pytest.mark.parametrize(
    ("found", "role", "state", "healthy"),
    [
        (view("A5"), "primary", "in cluster", True),
        (view("A1"), "secondary", "in cluster", True),
        (view("A1", key="0"), "unknown", "orphan", False),
        (view("A1", cluster_is_member="false"), "unknown", "in cluster", False),
        (SILENT, "unknown", "silent", False),
    ],
)
def test_a_node_is_what_it_says(found: View, role: str, state: str, healthy: bool) -> None:
    member = member_of(found)

    assert (member.role, member.state, member.healthy) == (role, state, healthy)


def test_the_signature_changes_only_when_the_nodes_have_noticed() -> None:
    before = signature_of([view("A1"), view("A2"), view("A3")])

    assert signature_of([view("A1"), view("A2"), SILENT]) == before
    assert signature_of([view("A1"), view("A2"), view("A3", key="0")]) == before
    assert signature_of([view("A1", key="DEF"), view("A2", key="DEF"), SILENT]) != before


def test_nodes_that_became_orphans_have_noticed() -> None:
    orphan = view("A1", key="0")
    assert signature_of([orphan, orphan, SILENT]) == ""


def test_silence_is_not_taken_for_a_change() -> None:
    with pytest.raises(ClusterError, match="2 of 3 nodes do not answer"):
        signature_of([view("A1", key="0"), SILENT, SILENT])


COMMAND = stable_command(2, migrations=True)


def answers(*said: str) -> list[View]:
    return [View(f"n{n}", "", {COMMAND: text}) for n, text in enumerate(said, start=1)]


MUTE = View("n3", "", error="it does not answer", timed_out=True)


@pytest.mark.parametrize(
    ("views", "unknown"),
    [
        ([*answers("ABC", "ABC"), MUTE], True),
        ([MUTE, MUTE], True),
        ([*answers("ABC", "ABC"), SILENT], False),
        ([*answers("ABC", "ERROR::unstable-cluster"), MUTE], False),
        ([*answers("ABC", "DEF"), MUTE], False),
        (answers("ABC", "ABC"), False),
    ],
)
def test_a_node_that_gives_no_answer_is_not_away_unless_others_say_so(
    views: list[View], unknown: bool
) -> None:
    state = judge(views, COMMAND)
    assert state.unknown is unknown
    assert not (state.unknown and state.reached)


def test_stable_is_one_key_on_every_node() -> None:
    assert COMMAND == "cluster-stable:size=2;ignore-migrations=false"
    assert judge(answers("ABC", "ABC"), COMMAND).reached


@pytest.mark.parametrize(
    ("views", "missing"),
    [
        (answers("ABC", "ERROR:7:unstable cluster"), "n2: ERROR:7:unstable cluster"),
        (answers("ABC", "DEF"), "n2 is in cluster DEF"),
        (answers("ABC", "ERROR:7:unstable clusterABC"), "n2: ERROR:7:unstable clusterABC"),
        ([*answers("ABC"), SILENT], "A9: it does not answer"),
        (answers("ABC", ""), "n2: ERROR: no answer"),
    ],
)
def test_anything_else_is_not(views: list[View], missing: str) -> None:
    state = judge(views, COMMAND)

    assert not state.reached
    assert missing in state.detail["missing"]


def test_what_still_migrates_is_told() -> None:
    told = "cluster_key=ABC;migrate_partitions_remaining=35"
    moving = View("n1", "", {COMMAND: "ERROR:7:unstable cluster", "statistics": told})
    (words,) = judge([moving], COMMAND).detail["missing"]
    assert words == "n1: ERROR:7:unstable cluster (35 partitions still migrate)"


def test_a_partition_that_nobody_serves_is_missing() -> None:
    numbers = "unavailable_partitions=3;dead_partitions=0"
    state = judge([View("n1", "", {COMMAND: "ABC", "namespace/test": numbers})], COMMAND)
    assert not state.reached
    assert state.detail["missing"] == ["n1: 3 partitions are unavailable"]


def test_a_node_is_quiesced_only_where_every_namespace_says_so() -> None:
    yes, no = "effective_is_quiesced=true", "effective_is_quiesced=false"
    assert View("n1", "", {"namespace/a": yes, "namespace/b": yes}).is_quiesced
    assert not View("n1", "", {"namespace/a": yes, "namespace/b": no}).is_quiesced
    assert not View("n1", "", {}).is_quiesced


def test_a_node_that_is_quiesced_or_will_be_is_named() -> None:
    pending = View("n1", "", {"namespace/a": "pending_quiesce=true;effective_is_quiesced=false"})
    free = View("n2", "", {"namespace/a": "pending_quiesce=false;effective_is_quiesced=false"})
    assert quiesced([pending, free, SILENT]) == ["n1 is quiesced"]


def test_answers_are_taken_apart() -> None:
    assert pairs("a=1;b=;c;d=2=3") == {"a": "1", "b": "", "d": "2=3"}
    assert is_error("ERROR::unknown")
    assert is_error("type=unknown")
    assert not is_error("ignored-by-non-principal")
