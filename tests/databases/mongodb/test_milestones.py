"""Milestones: judged from what each member says of itself."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.mongodb.milestones import judge, lost_with, primary_of, signature_of
from brownout.databases.mongodb.view import STATES, View

NOON = datetime(2026, 11, 22, 12)
ADDRESSES = {f"n{i}": f"db{i}:27017" for i in (1, 2, 3)}


def view(
    node: str,
    state: str = "SECONDARY",
    *,
    term: int = 5,
    behind_s: float = 0.0,
    commit_term: int = 5,
    commit_behind_s: float = 0.0,
    health: Mapping[str, int] | None = None,
    hello: Mapping[str, Any] | None = None,
    **status: Any,
) -> View:
    seen = {**dict.fromkeys(ADDRESSES, 1), **(health or {})}
    return View(
        node,
        ADDRESSES[node],
        {"topologyVersion": {"processId": f"p-{node}"}, **(hello or {})},
        {
            "myState": STATES.index(state),
            "set": "rs",
            "term": term,
            "members": [{"name": ADDRESSES.get(n, n), "health": h} for n, h in seen.items()],
            "optimes": {
                "appliedOpTime": {"t": min(term, 5)},
                "lastAppliedWallTime": NOON - timedelta(seconds=behind_s),
                "lastCommittedOpTime": {"t": commit_term},
                "lastCommittedWallTime": NOON - timedelta(seconds=commit_behind_s),
            },
            **status,
        },
    )


def silent(node: str) -> View:
    return View(node, ADDRESSES[node], error="no answer in time", timed_out=True)


def refusing(node: str) -> View:
    return View(node, ADDRESSES[node], error="connection refused")


WHOLE = [view("n1"), view("n2", "PRIMARY"), view("n3")]
DELAYED = {"secondaryDelaySecs": 60}

#: What differs from a whole set, the milestone that it holds up, and what is said to be missing.
CASES: list[tuple[list[View], str, str]] = [
    ([silent("n1"), *WHOLE[1:]], "rejoined", "n1 is unreachable (no answer in time)"),
    ([view("n1", "STARTUP2"), *WHOLE[1:]], "rejoined", "n1 is STARTUP2"),
    ([view("n1", "RECOVERING"), *WHOLE[1:]], "rejoined", "n1 is RECOVERING"),
    ([view("n1", "ROLLBACK"), *WHOLE[1:]], "rejoined", "n1 is ROLLBACK"),
    (
        [view("n1", "PRIMARY", term=4), *WHOLE[1:]],
        "rejoined",
        "n1 is still primary of term 4, now 5",
    ),
    ([view("n1"), view("n2"), view("n3")], "redundant", "no member is primary"),
    ([view("n1", behind_s=10.5), *WHOLE[1:]], "redundant", "n1 is 10.5 s behind (wanted 10)"),
    ([view("n1", term=4), *WHOLE[1:]], "redundant", "n1 has nothing of term 5 yet"),
    ([view("n1", initialSyncStatus={}), *WHOLE[1:]], "redundant", "n1 copies all data"),
    (
        [WHOLE[0], view("n2", "PRIMARY", commit_term=4), WHOLE[2]],
        "redundant",
        "no write of term 5 is known to a majority yet",
    ),
    (
        [WHOLE[0], view("n2", "PRIMARY", commit_behind_s=11), WHOLE[2]],
        "redundant",
        "the majority is more than 10 s behind",
    ),
    (
        [WHOLE[0], view("n2", "PRIMARY", health={"n3": 0}), WHOLE[2]],
        "whole",
        "n2 sees db3:27017 down",
    ),
    (
        [WHOLE[0], view("n2", "PRIMARY", health={"db4:27017": 1}), WHOLE[2]],
        "whole",
        "db4:27017 is a member, but not in the inventory",
    ),
]


@pytest.mark.parametrize("milestone", ["rejoined", "redundant", "whole"])
def test_a_healthy_set_has_reached_every_milestone(milestone: Any) -> None:
    state = judge(milestone, WHOLE)

    assert state.reached
    assert state.detail["missing"] == []
    assert state.detail["primary"] == "n2"


@pytest.mark.parametrize(("views", "milestone", "missing"), CASES, ids=[c[2] for c in CASES])
def test_what_is_missing_holds_up_its_milestone_and_the_ones_after(
    views: list[View], milestone: Any, missing: str
) -> None:
    order: list[Any] = ["rejoined", "redundant", "whole"]
    held_up = order[order.index(milestone) :]

    for name in order:
        state = judge(name, views)
        assert state.reached is (name not in held_up)
        assert (missing in state.detail["missing"]) is (name in held_up)


#: Views, and whether nobody knows by them whether all members rejoined, and are redundant.
UNSURE: list[tuple[str, list[View], bool, bool]] = [
    ("whole", WHOLE, False, False),
    ("a secondary gives no answer", [silent("n1"), *WHOLE[1:]], True, True),
    ("the primary gives none", [WHOLE[0], silent("n2"), WHOLE[2]], True, True),
    ("none gives one", [silent("n1"), silent("n2"), silent("n3")], True, True),
    ("it is down", [refusing("n1"), *WHOLE[1:]], False, False),
    ("another is down", [silent("n1"), WHOLE[1], refusing("n3")], False, False),
    ("another is no copy", [silent("n1"), WHOLE[1], view("n3", behind_s=11)], True, False),
    ("another is in rollback", [silent("n1"), WHOLE[1], view("n3", "ROLLBACK")], False, False),
    ("others see it down", [silent("n1"), view("n2", "PRIMARY", health={"n1": 0}), WHOLE[2]],
     False, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("views", "rejoined", "redundant"), [each[1:] for each in UNSURE], ids=[e[0] for e in UNSURE]
)
def test_a_member_that_gives_no_answer_is_not_away_unless_others_say_so(
    views: list[View], rejoined: bool, redundant: bool
) -> None:
    assert judge("rejoined", views).unknown is rejoined
    assert judge("redundant", views).unknown is redundant
    assert judge("rejoined", views).reached is judge("redundant", views).reached is (views is WHOLE)


def test_a_member_that_is_not_in_the_sets_configuration_makes_it_not_whole() -> None:
    primary = view("n2", "PRIMARY")
    primary.status["members"].pop(0)

    assert judge("whole", [WHOLE[0], primary, WHOLE[2]]).detail["missing"] == [
        "db1:27017 is not a member of the set"
    ]


def test_a_member_that_is_delayed_on_purpose_may_be_behind_by_that() -> None:
    delayed = view("n1", behind_s=65, hello=DELAYED)
    since_an_election = view("n1", behind_s=65, hello=DELAYED, term=4)
    late = view("n1", behind_s=71, hello=DELAYED)

    assert judge("whole", [delayed, *WHOLE[1:]]).reached
    assert judge("whole", [since_an_election, *WHOLE[1:]]).reached
    assert not judge("redundant", [late, *WHOLE[1:]]).reached


def test_an_arbiter_serves_and_needs_no_data() -> None:
    assert judge("whole", [view("n1", "ARBITER", behind_s=999), *WHOLE[1:]]).reached


def test_an_arbiter_that_knows_no_login_serves_by_what_it_says_without_one() -> None:
    said = {"arbiterOnly": True, "topologyVersion": {"processId": "p-n1"}}
    arbiter = View("n1", ADDRESSES["n1"], said)
    restarted = View("n1", ADDRESSES["n1"], {**said, "topologyVersion": {"processId": "other"}})

    assert judge("whole", [arbiter, *WHOLE[1:]]).reached
    assert not judge("whole", [refusing("n1"), *WHOLE[1:]]).reached
    assert signature_of([arbiter, *WHOLE[1:]]) != signature_of([restarted, *WHOLE[1:]])


def test_of_two_primaries_the_one_of_the_later_term_counts() -> None:
    old = view("n1", "PRIMARY", term=4)

    assert primary_of([old, *WHOLE[1:]]) == WHOLE[1]


def test_an_unknown_milestone_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="found 'healthy', wanted rejoined, redundant"):
        judge(cast(Any, "healthy"), WHOLE)


def test_the_signature_is_the_same_while_nothing_happens() -> None:
    later = [view("n1", behind_s=3), view("n2", "PRIMARY"), view("n3")]

    assert signature_of(later) == signature_of(WHOLE)


@pytest.mark.parametrize(
    "after",
    [
        [silent("n1"), *WHOLE[1:]],
        [WHOLE[0], view("n2", "PRIMARY", health={"n1": 0}), WHOLE[2]],
        [view("n1", "PRIMARY", term=6), view("n2", term=6), view("n3", term=6)],
        [view("n1", hello={"topologyVersion": {"processId": "another"}}), *WHOLE[1:]],
    ],
    ids=["silence", "others notice", "another primary", "a restart that nobody noticed"],
)
def test_the_signature_changes_when_a_member_goes_or_changes(after: list[View]) -> None:
    assert signature_of(after) != signature_of(WHOLE)


@pytest.mark.parametrize(
    ("gone", "views", "lost"),
    [
        ({"n1"}, WHOLE, []),
        ({"n2"}, WHOLE, []),  # the primary: the others have what a majority has
        ({"n1"}, [silent("n1"), *WHOLE[1:]], []),  # it is down already, as before its wipe
        ({"n1", "n3"}, WHOLE, ["a write is acknowledged by 2 members, and 2 members would go"]),
        ({"n2"}, [view("n2", "PRIMARY")],
         ["no member but n2 has all data",
          "a write is acknowledged by 1 member, and 1 member would go"]),
        ({"n1"}, [WHOLE[0], silent("n2"), silent("n3")], ["no member but n1 has all data"]),
        ({"n2"}, [view("n1", "STARTUP2"), WHOLE[1], view("n3", initialSyncStatus={})],
         ["no member but n2 has all data"]),
        ({"n2"}, [view("n1", "ARBITER"), WHOLE[1]], ["no member but n2 has all data"]),
        ({"n2"}, [view("n1", behind_s=60), WHOLE[1], view("n3", behind_s=60)],
         ["no member but n2 has all data"]),
        ({"n2"}, [view("n1", behind_s=60, hello=DELAYED), WHOLE[1]],
         ["no member but n2 has all data"]),
        ({"n1"}, [view("n1", writeMajorityCount=1), view("n2", "PRIMARY", writeMajorityCount=1)],
         ["a write is acknowledged by 1 member, and 1 member would go"]),
    ],
)  # fmt: skip
def test_the_data_of_members_is_lost_for_good_where_the_others_lack_it(
    gone: set[str], views: list[View], lost: list[str]
) -> None:
    assert lost_with(gone, views) == lost
