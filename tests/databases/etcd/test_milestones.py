"""Milestones: judged from what each member says of itself."""

from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Milestone
from brownout.databases.etcd.milestones import judge, leader_of, lost_with, signature_of
from brownout.databases.etcd.view import Entry, View

IDS = {"n1": "11", "n2": "22", "n3": "33"}
LISTED = tuple(Entry(id, name, (f"http://{name}:2380",), ()) for name, id in IDS.items())


def view(
    node: str, leader: str = "n2", *, term: int = 5, applied: int = 9000, **status: Any
) -> View:
    header = {"member_id": IDS[node], "cluster_id": "7", "revision": "100"}
    said = {"header": header, "leader": IDS.get(leader, "0"), "raftTerm": str(term),
            "raftAppliedIndex": str(applied), "version": "3.7.3"}  # fmt: skip
    return View(node, f"{node}:2379", {**said, **status}, status.pop("listed", LISTED))


def silent(node: str) -> View:
    return View(node, f"{node}:2379", error="no answer in time", timed_out=True)


def listing(*entries: Entry) -> View:
    whole = view("n2")
    return View(whole.node, whole.address, whole.status, entries)


WHOLE = [view("n1"), view("n2"), view("n3")]
NO_QUORUM = "1 member of 3 serve, which is less than a quorum: no member could be taken in again"
STRANGER = Entry("44", "n4", ("http://n4:2380",), ())


@pytest.mark.parametrize(
    ("other", "milestone", "missing"),
    [
        (silent("n1"), "rejoined", "n1 is unreachable (no answer in time)"),
        (view("n1", ""), "rejoined", "n1 is LEADERLESS"),
        (view("n1", isLearner=True), "rejoined", "n1 is LEARNER"),
        (view("n1", errors=["memberID:1 alarm:CORRUPT"]), "rejoined", "n1 is CORRUPT"),
        (view("n1", term=4), "rejoined", "n1 is still in term 4, now 5"),
        (view("n1", "n1", term=4), "rejoined", "n1 is still in term 4, now 5"),
        (view("n1", "n3"), "redundant", "n1 follows another leader than n2"),
        (view("n1", applied=7999), "redundant", "n1 is 1001 entries behind (wanted 1000)"),
        (listing(*LISTED[1:]), "whole", "n1 is not a member of the cluster"),
        (listing(*LISTED, STRANGER), "whole", "n4 is a member, but not in the inventory"),
        (listing(*LISTED[:2], Entry("33", "", ("http://n3:2380",), ())), "whole",
         "the member at http://n3:2380 has not started yet"),
        (listing(*LISTED[:2], Entry("33", "n3", (), (), learner=True)), "whole", "n3 is a learner"),
        (view("n1", errors=["memberID:1 alarm:NOSPACE"]), "whole", "memberID:1 alarm:NOSPACE"),
    ],
)  # fmt: skip
def test_a_milestone_is_reached_only_without_what_holds_it_up(
    other: View, milestone: Milestone, missing: str
) -> None:
    order: list[Milestone] = ["rejoined", "redundant", "whole"]
    views = [other if view.node == other.node else view for view in WHOLE]
    for each in order[order.index(milestone) :]:
        state = judge(each, views)
        assert not state.reached
        assert missing in state.detail["missing"]
    for each in order[: order.index(milestone)]:
        assert judge(each, views).reached


def test_a_whole_cluster_has_reached_all_of_them() -> None:
    for milestone in ("rejoined", "redundant", "whole"):
        state = judge(milestone, WHOLE)
        assert state.reached
        assert state.detail["primary"] == "n2"
        assert state.detail["members"]["n1"]["state"] == "FOLLOWER"


def test_an_unknown_milestone_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="wanted rejoined, redundant or whole"):
        judge("healthy", WHOLE)  # type: ignore[arg-type]


def test_without_a_leader_nothing_is_redundant() -> None:
    assert judge("redundant", [view(n, "") for n in IDS]).detail["missing"][-1] == "no member leads"


def test_of_two_leaders_the_one_of_the_later_term_counts() -> None:
    found = leader_of([view("n1", "n1", term=4), view("n2"), view("n3")])
    assert found is not None
    assert found.node == "n2"


@pytest.mark.parametrize(
    ("gone", "views", "lost"),
    [
        ({"n1"}, WHOLE, []),
        ({"n1"}, [silent("n1"), view("n2"), view("n3")], []),
        ({"n1"}, [view("n1"), view("n2"), silent("n3")],
         [f"without n1 {NO_QUORUM}"]),
        ({"n1", "n2"}, WHOLE,
         ["a write is acknowledged by 2 members, and 2 members would go",
          f"without n1, n2 {NO_QUORUM}"]),
    ],
)  # fmt: skip
def test_a_quorum_has_to_keep_its_data(gone: set[str], views: list[View], lost: list[str]) -> None:
    assert lost_with(gone, views) == lost


def test_the_signature_differs_once_a_member_goes_or_another_one_leads() -> None:
    others = [
        [silent("n1"), *WHOLE[1:]],
        [view("n1", "n3"), view("n2", "n3"), view("n3", "n3")],
        [view(node, term=6) for node in IDS],
    ]
    found = {signature_of(views) for views in (WHOLE, *others)}
    assert len(found) == 4
    assert signature_of(WHOLE) == signature_of([view(node, applied=9500) for node in IDS])


@pytest.mark.parametrize("milestone", ["rejoined", "redundant", "whole"])
@pytest.mark.parametrize("late", ["n1", "n2"], ids=["a follower", "the leader"])
def test_a_member_that_is_late_to_answer_says_neither_yes_nor_no(
    late: str, milestone: Milestone
) -> None:
    found = judge(milestone, [silent(v.node) if v.node == late else v for v in WHOLE])
    assert (found.reached, found.unknown) == (False, True)


def test_a_member_that_refuses_or_one_that_says_no_is_a_no() -> None:
    refused = View("n1", "n1:2379", error="refused")
    assert not judge("rejoined", [refused, *WHOLE[1:]]).unknown
    assert not judge("rejoined", [silent("n1"), view("n2"), view("n3", "")]).unknown
