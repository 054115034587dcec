"""Milestones: judged from what each member's Patroni says of itself."""

from dataclasses import replace
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Milestone
from brownout.databases.postgresql.milestones import (
    judge,
    lost_with,
    objections_to_orphan,
    primary_of,
    signature_of,
    successor_of,
)
from brownout.databases.postgresql.view import Listed, View

NAMES = ("n1", "n2", "n3")


def listed(leader: str, timeline: int = 1, names: tuple[str, ...] = NAMES) -> tuple[Listed, ...]:
    return tuple(Listed(name, name == leader, "running", timeline) for name in names)


def view(
    node: str,
    role: str = "replica",
    *,
    timeline: int = 1,
    at: int = 9_000_000,
    streams: dict[str, str] | None = None,
    leader: str = "n2",
    names: tuple[str, ...] = NAMES,
    **status: Any,
) -> View:
    here = "replayed_location" if role == "replica" else "location"
    said = {
        "state": "running",
        "role": role,
        "server_version": 180006,
        "timeline": timeline,
        "xlog": {here: at},
        "replication": [
            {"application_name": name, "state": "streaming", "sync_state": how}
            for name, how in (streams or {}).items()
        ],
        "database_system_identifier": "7",
        "patroni": {"version": "4.1.5", "scope": "c", "name": node},
    }
    return View(node, f"{node}:5432", {**said, **status}, listed(leader, timeline, names))


NO_ANSWER = "no answer in time"


def silent(node: str) -> View:
    return View(node, f"{node}:5432", error=NO_ANSWER, timed_out=True)


BOTH = {"n1": "async", "n3": "async"}
WHOLE = [view("n1"), view("n2", "primary", streams=BOTH), view("n3")]


@pytest.mark.parametrize(
    ("other", "milestone", "missing"),
    [
        (silent("n1"), "rejoined", f"n1 is unreachable ({NO_ANSWER})"),
        (view("n1", state="starting"), "rejoined", "n1 is starting"),
        (view("n1", timeline=2), "rejoined", "n1 is on timeline 2, n2 on 1"),
        (view("n3", "primary", timeline=0), "rejoined", "n3 is primary as well, on timeline -1"),
        (view("n2", "primary", streams={"n3": "async"}), "redundant", "n1 does not stream from n2"),
        (view("n1", at=9_000_000 - 2**20 - 1), "redundant",
         "n1 is 1048577 bytes behind (wanted 1048576)"),
        (view("n2", "primary", streams=BOTH, names=("n1", "n2")), "whole",
         "n3 is not a member of the cluster"),
        (view("n2", "primary", streams=BOTH, names=(*NAMES, "n4")), "whole",
         "n4 is a member, but not in the inventory"),
        (view("n1", database_system_identifier="8"), "whole",
         "the members are of 2 clusters"),
        (view("n1", pause=True), "whole", "Patroni is paused: it would promote no replica"),
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
        assert (state.reached, state.detail["missing"]) == (True, [])
    assert judge("whole", WHOLE).detail["primary"] == "n2"
    with pytest.raises(ConfigurationError, match="found 'calm'"):
        judge("calm", WHOLE)  # type: ignore[arg-type]  # the mistake that is tested


def test_words_of_patroni_3_and_4_mean_the_same() -> None:
    assert view("n1", "master").state == view("n1", "primary").state == "PRIMARY"
    assert view("n1", state="streaming").state == view("n1").state == "REPLICA"


def test_of_two_primaries_the_later_one_counts() -> None:
    old, new = view("n1", "primary"), view("n2", "primary", timeline=2)
    assert primary_of([old, new]) is new
    assert primary_of([silent("n1")]) is None


def test_a_killed_primary_is_noticed_when_the_others_have_another_leader() -> None:
    waiting = [view("n1"), silent("n2"), view("n3")]
    assert signature_of(waiting) == signature_of(WHOLE)
    promoted = [
        view("n1", "primary", timeline=2, leader="n1"),
        silent("n2"),
        view("n3", timeline=2, leader="n1"),
    ]
    assert signature_of(promoted) != signature_of(WHOLE)


def test_a_killed_replica_is_noticed_at_once() -> None:
    assert signature_of([silent("n1"), *WHOLE[1:]]) != signature_of(WHOLE)


def test_the_replica_that_is_furthest_takes_over_or_the_one_that_commits_wait_for() -> None:
    near, far = view("n1", at=5), view("n3", at=9)
    assert successor_of(view("n2", "primary", streams=BOTH), [near, far]) is far
    synchronous = {"n1": "sync", "n3": "async"}
    assert successor_of(view("n2", "primary", streams=synchronous), [near, far]) is near
    assert successor_of(view("n2", "primary"), [near, far]) is None


@pytest.mark.parametrize("tags", [{"nofailover": True}, {"failover_priority": 0}])
def test_a_replica_that_may_not_lead_takes_over_nothing(tags: dict[str, Any]) -> None:
    near, far = view("n1", at=900), view("n3", at=990, tags=tags)
    primary = view("n2", "primary", streams=BOTH)
    assert successor_of(primary, [near, far]) is near
    assert successor_of(primary, [far]) is None
    synchronous = view("n2", "primary", streams={"n1": "async", "n3": "sync"})
    assert successor_of(synchronous, [near, far]) is None


def test_a_replica_that_replays_late_is_a_copy_of_what_it_received() -> None:
    primary = view("n2", "primary", at=2**30, streams=BOTH)
    late = view("n1", xlog={"replayed_location": 5, "received_location": 2**30})
    restored = view("n3", xlog={"replayed_location": 2**30, "received_location": 0})
    restarted = view("n3", xlog={"replayed_location": 2**30, "received_location": None})
    behind = view("n1", xlog={"replayed_location": 5, "received_location": 2**29})
    assert judge("redundant", [late, primary, restored]).reached
    assert judge("redundant", [late, primary, restarted]).reached
    assert not judge("redundant", [behind, primary, restored]).reached
    assert lost_with({"n2"}, [late, primary]) == []
    assert successor_of(primary, [late, restored]) is restored


def test_what_only_a_dead_primary_may_have_is_not_thrown_away() -> None:
    promoted = view("n1", "primary", timeline=2, leader="n1")
    for views, lost in [
        ([view("n1"), silent("n2"), view("n3")], "only n2 may have the latest writes"),
        ([silent("n1"), silent("n2"), silent("n3")], "no member but n2 has the data"),
        ([view("n1", "primary"), silent("n2"), view("n3", timeline=2)], "there is a timeline 2"),
    ]:
        (said,) = lost_with({"n2"}, views)
        assert lost in said
    assert lost_with({"n2"}, [promoted, silent("n2"), view("n3")]) == []
    assert lost_with({"n2"}, WHOLE) == []
    alone = [view("n1"), view("n2", "primary"), view("n3")]
    assert lost_with({"n2"}, alone) == ["no other member streams from n2 and is close to it"]
    assert lost_with({"n1"}, WHOLE) == []
    assert lost_with(set(NAMES), WHOLE) == ["no member but n1, n2, n3 has the data"]


def orphan(primary: View, *others: View, node: str = "n2", **allowed: bool) -> list[str]:
    told = {"of_a_replica": False, "may_lose": True, **allowed}
    return objections_to_orphan(node, [primary, *others], **told)


def test_the_patroni_of_a_primary_may_die_alone_where_a_replica_can_take_over() -> None:
    assert orphan(*WHOLE) == []
    assert orphan(*WHOLE, node="n1", of_a_replica=True) == []


@pytest.mark.parametrize(
    ("views", "why"),
    [
        ([silent("n2"), view("n1")], NO_ANSWER),
        ([replace(WHOLE[1], listed=()), view("n1")], "does not reach its store"),
        ([WHOLE[1], view("n1", pause=True)], "Patroni is paused"),
        ([WHOLE[1]], "no other member could be promoted instead of n2"),
        ([view("n2", "primary", streams={"n3": "async"}), view("n1")], "no other member could be"),
        ([WHOLE[1], view("n1", tags={"nofailover": True})], "no other member could be"),
        ([WHOLE[1], view("n1", tags={"failover_priority": 0})], "no other member could be"),
        ([WHOLE[1], view("n1", at=0)], "no other member could be"),
        (
            [view("n2", "primary", streams={"n1": "async", "n3": "sync"}), view("n1")],
            "no other member could be",
        ),
    ],
)
def test_the_patroni_of_a_primary_is_not_killed_where_nobody_would_take_over(
    views: list[View], why: str
) -> None:
    (said,) = orphan(*views)
    assert why in said


def test_the_patroni_of_a_replica_is_killed_only_where_that_is_meant() -> None:
    (said,) = orphan(*WHOLE, node="n1")
    assert said.startswith("n1 is REPLICA, so no replica would be promoted")


def test_writes_are_lost_by_an_orphan_only_where_the_inventory_allows_it() -> None:
    (said,) = orphan(*WHOLE, may_lose=False)
    assert "does not say `allow_data_loss: true`" in said
    waiting = view("n2", "primary", streams={"n1": "sync"})
    assert orphan(waiting, view("n1"), may_lose=False) == []


def test_a_member_that_is_late_to_answer_says_neither_yes_nor_no() -> None:
    found = judge("redundant", [silent("n1"), *WHOLE[1:]])
    assert (found.reached, found.unknown) == (False, True)
    refused = View("n1", "n1:5432", error="refused")
    assert not judge("redundant", [refused, *WHOLE[1:]]).unknown
