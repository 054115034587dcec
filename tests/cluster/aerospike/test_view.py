"""What follows from the nodes' own words."""

import pytest

from brownout.cluster.aerospike.info import is_error, pairs
from brownout.cluster.aerospike.view import View, judge, member_of, signature_of, stable_command


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


COMMAND = stable_command(2, migrations=True)


def answers(*said: str) -> list[View]:
    return [View(f"n{n}", "", {COMMAND: text}) for n, text in enumerate(said, start=1)]


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


def test_answers_are_taken_apart() -> None:
    assert pairs("a=1;b=;c;d=2=3") == {"a": "1", "b": "", "d": "2=3"}
    assert is_error("ERROR::unknown")
    assert is_error("type=unknown")
    assert not is_error("ignored-by-non-principal")
