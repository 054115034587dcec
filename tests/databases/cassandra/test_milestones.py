"""When a cluster is back, by what every node says of itself and has heard of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import MilestoneState
from brownout.databases.cassandra.milestones import MAX_UNHEARD, away, signature_of
from brownout.databases.cassandra.milestones import judge as judged
from brownout.databases.cassandra.view import Heard, View

BEATS = {"id-n1": 500, "id-n2": 400, "id-n3": 300}


def judge(milestone: Any, found: Sequence[View], **unsettled: float) -> MilestoneState:
    return judged(milestone, found, unsettled)


def heard(**changes: Heard) -> dict[str, Heard]:
    """Return what a node heard that is up to date, but for some ids (`n1=…`)."""
    found = {id: Heard("NORMAL", 1000, beat) for id, beat in BEATS.items()}
    return found | {f"id-{name}": what for name, what in changes.items()}


def view(name: str, **changes: Any) -> View:
    local = {
        "host_id": f"id-{name}",
        "cluster_name": "c",
        "bootstrapped": "COMPLETED",
        "schema_version": "s1",
        "gossip_generation": 1000,
        **changes.pop("local", {}),
    }
    peers = frozenset(BEATS) - {f"id-{name}"}
    made = View(name, f"{name}:9042", local, peers, heard(), frozenset())
    return replace(made, **changes)


def views(**changes: Mapping[str, Any]) -> list[View]:
    return [view(name, **changes.get(name, {})) for name in ("n1", "n2", "n3")]


def gone(name: str) -> View:
    return View(name, f"{name}:9042", error="connection refused")


def test_three_nodes_that_hear_each_other_are_whole() -> None:
    for milestone in ("rejoined", "redundant", "whole"):
        assert judge(milestone, views()).reached


def test_a_node_that_does_not_answer_is_not_back() -> None:
    state = judge("rejoined", [*views()[:2], gone("n3")])
    assert state.detail["missing"] == ["n3 is unreachable (connection refused)"]


def test_a_node_that_joins_is_not_back() -> None:
    state = judge("rejoined", views(n3={"local": {"bootstrapped": "IN_PROGRESS"}}))
    assert state.detail["missing"] == ["n3 is JOINING"]


@pytest.mark.parametrize(
    ("last", "missing"),
    [
        (Heard("NORMAL", 1000, 300 - MAX_UNHEARD), []),
        (Heard("NORMAL", 1000, 200), ["n1 has not heard of n3 since it beat 100 times"]),
        (Heard("NORMAL", 900, 9999), ["n1 has not heard of n3 since it started"]),
        (Heard("shutdown", 1000, 300), ["n1 has not heard of n3 since it became NORMAL"]),
    ],
)
def test_a_node_is_back_when_the_others_hear_what_it_says(last: Heard, missing: list[str]) -> None:
    state = judge("rejoined", views(n1={"heard": heard(n3=last)}))
    assert state.detail["missing"] == missing


def test_a_node_that_was_cut_off_hears_nobody() -> None:
    deaf = {"heard": {"id-n3": Heard("NORMAL", 1000, 300)}}
    found = judge("rejoined", views(n3=deaf)).detail["missing"]
    assert len(found) == 2
    assert all(mentions(each, "n3", name) for each, name in zip(found, ("n1", "n2"), strict=True))


def test_writes_that_a_node_missed_are_not_redundant_until_it_has_them() -> None:
    found = views(n1={"hints": frozenset({"id-n3", "id-of-one-that-is-gone"})})
    assert judge("rejoined", found).reached
    assert judge("redundant", found).detail["missing"] == ["n1 keeps hints for n3"]


def test_a_node_that_is_back_is_not_redundant_before_what_it_missed_has_turned_out() -> None:
    assert judge("rejoined", views(), n3=2.4).reached
    state = judge("redundant", views(), n3=2.4)
    assert state.detail["missing"] == ["n3 was away: what it missed is known in 2 s"]


def test_a_node_is_away_that_does_not_answer_or_is_not_heard() -> None:
    assert away(views()) == set()
    assert away([*views()[:2], gone("n3")]) == {"n3"}
    assert away(views(n1={"heard": heard(n2=Heard("NORMAL", 1000, 0))})) == {"n2"}


def test_nodes_of_two_schemas_are_not_redundant() -> None:
    found = judge("redundant", views(n2={"local": {"schema_version": "s2"}}))
    assert found.detail["missing"] == ["the nodes have 2 schemas"]


def test_a_cluster_with_a_stranger_in_it_is_not_whole() -> None:
    found = views(n1={"peers": frozenset({"id-n2", "id-n3", "id-n4"})})
    assert judge("redundant", found).reached
    assert judge("whole", found).detail["missing"] == [
        "the node id-n4 is in the cluster, but not in the inventory"
    ]


def test_a_version_that_does_not_tell_what_it_heard_is_believed_about_itself() -> None:
    old = {name: {"heard": None, "hints": None} for name in ("n1", "n2", "n3")}
    assert judge("whole", views(**old)).reached


def test_the_signature_changes_when_a_node_was_restarted() -> None:
    again = views(n2={"local": {"gossip_generation": 2000}})
    assert signature_of(views()) != signature_of(again)


def test_a_milestone_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="wanted rejoined, redundant or whole"):
        judge("well", views())
