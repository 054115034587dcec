"""Milestones of a Redis under Sentinel: what servers say of themselves, and sentinels of them."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from brownout.databases.adapter import Milestone
from brownout.databases.redis.sentinel.milestones import (
    Named,
    Sight,
    judge,
    lost_with,
    master_of,
    named,
    signature_of,
)
from brownout.databases.redis.sentinel.view import View
from brownout.databases.redis.sentinel.watch import Seen, Watch

NAMES = {f"10.0.0.{n}:6379": f"n{n}" for n in (1, 2, 3)}


def server(number: int, of: int = 1, **info: str) -> View:
    """Return a server: the master, or a replica of the node `of`."""
    said = {"redis_version": "7.0.15", "redis_mode": "standalone", "loading": "0"}
    said |= {"run_id": f"id{number}", "master_replid": f"history{of}"}
    said |= {"role": "master", "master_repl_offset": "5000000"}
    if number != of:
        said |= {"role": "slave", "master_host": f"10.0.0.{of}", "master_port": "6379"}
        said |= {"master_link_status": "up", "slave_repl_offset": "5000000"}
    return View(f"n{number}", f"r{number}:6379", {**said, **info})


def silent(number: int) -> View:
    return View(f"n{number}", f"r{number}:6379", error="no answer in time", timed_out=True)


def sentinel(number: int, master: int = 1, epoch: int = 0, down: tuple[int, ...] = ()) -> Watch:
    seen = {n: Seen(f"10.0.0.{n}:6379", f"id{n}", n in down) for n in (1, 2, 3)}
    own = seen.pop(master)
    others = tuple(f"q{n}:26379" for n in (1, 2, 3) if n != number)
    return Watch(
        f"q{number}",
        f"q{number}:26379",
        master=own,
        replicas=tuple(seen.values()),
        sentinels=others,
        epoch=epoch,
    )


def mute(number: int) -> Watch:
    return Watch(f"q{number}", f"q{number}:26379", error="refused")


def sight(views: list[View] | None = None, watches: list[Watch] | None = None) -> Sight:
    return Sight(
        views or [server(n) for n in (1, 2, 3)], watches or [sentinel(n) for n in (1, 2, 3)], NAMES
    )


WATCHES = [sentinel(n) for n in (1, 2, 3)]
STRANGER = Seen("10.0.0.9:6379", "x", True)
PROMOTED = [sentinel(n, master=2, epoch=1) for n in (1, 2, 3)]


@pytest.mark.parametrize("milestone", get_args(Milestone))
def test_a_master_and_its_replicas_reach_every_milestone(milestone: Milestone) -> None:
    state = judge(milestone, sight())
    assert state.reached, state.detail["missing"]
    assert state.detail["masters"] == ["n1"]


@pytest.mark.parametrize(
    ("at", "milestone", "words"),
    [
        (sight([silent(1), server(2), server(3)]), "rejoined", "no node is master"),
        (sight([server(1), server(2), server(3, loading="1")]), "rejoined", "n3 is LOADING"),
        (
            sight([server(1), server(2), server(3, master_link_status="down")]),
            "rejoined",
            "n3 is SYNCING",
        ),
        (
            sight([server(1), server(2, of=2), server(3, of=2)], PROMOTED),
            "rejoined",
            "n1 and n2 are masters at the same time (the sentinels name n2)",
        ),
        (
            sight([server(1), server(2), server(3, of=2)]),
            "rejoined",
            "n3 replicates 10.0.0.2:6379, and not n1",
        ),
        (
            sight([server(1), server(2), server(3, slave_repl_offset="7")]),
            "redundant",
            "n3 is 4999993 bytes behind (wanted 1048576)",
        ),
        (
            sight(watches=[WATCHES[0], mute(2), mute(3)]),
            "redundant",
            "fewer than half of the sentinels name one and the same master",
        ),
        (
            sight(watches=PROMOTED),
            "redundant",
            "the sentinels name n2, and n1 is master",
        ),
        (
            sight(watches=[*WATCHES[:2], sentinel(3, down=(2,))]),
            "redundant",
            "q3 sees n2 as down",
        ),
        (sight(watches=[*WATCHES[:2], mute(3)]), "whole", "q3 does not watch: refused"),
        (
            sight(watches=[*WATCHES[:2], replace(WATCHES[2], objection="3 usable Sentinels")]),
            "whole",
            "q3 could not have a replica promoted: 3 usable Sentinels",
        ),
        (
            sight(watches=[*WATCHES[:2], replace(WATCHES[2], replicas=WATCHES[2].replicas[:1])]),
            "whole",
            "q3 does not know n3",
        ),
        (
            sight(
                watches=[
                    *WATCHES[:2],
                    replace(WATCHES[2], replicas=(*WATCHES[2].replicas, STRANGER)),
                ]
            ),
            "whole",
            "q3 knows 10.0.0.9:6379, which is not in the inventory",
        ),
    ],
)
def test_what_is_missing_is_said(at: Sight, milestone: Milestone, words: str) -> None:
    assert words in judge(milestone, at).detail["missing"]


def test_a_replica_on_another_machine_address_is_known_by_the_id_of_its_process() -> None:
    moved = [
        replace(w, replicas=(Seen("192.168.0.2:7000", "id2", False), w.replicas[1]))
        for w in WATCHES
    ]
    assert judge("whole", sight(watches=moved)).reached


def test_most_sentinels_and_not_a_single_one_say_who_is_master() -> None:
    apart = sight(watches=[sentinel(1, master=2, epoch=1), WATCHES[1], WATCHES[2]])
    assert named(apart) == Named("n1", 0, 0)
    assert named(sight(watches=[WATCHES[0], mute(2), mute(3)])) is None


def test_of_two_masters_the_one_that_sentinels_name_counts() -> None:
    both = sight([server(1), server(2, of=2), server(3, of=2)], PROMOTED)
    chosen = master_of(both)
    assert chosen is not None
    assert chosen.node == "n2"


def test_a_dead_master_changes_the_signature_when_sentinels_see_it_down() -> None:
    before = signature_of(sight())
    broken = [server(n, master_link_status="down") for n in (2, 3)]
    views = [silent(1), *broken]
    assert signature_of(sight(views)) == before
    down = [sentinel(n, down=(1,)) for n in (1, 2, 3)]
    noticed = signature_of(sight(views, down))
    promoted = signature_of(sight([silent(1), server(2, of=2), server(3, of=2)], PROMOTED))
    assert len({before, noticed, promoted}) == 3


@pytest.mark.parametrize(
    ("gone", "at", "lost"),
    [
        (["n1"], sight(), False),
        (["n2", "n3"], sight(), False),
        (["n1", "n2", "n3"], sight(), True),
        (["n1"], sight([silent(1), server(2), server(3)]), True),
        (["n1"], sight([silent(1), server(2, of=2), server(3, of=2)], PROMOTED), False),
        (["n1"], sight(watches=[mute(1), mute(2), mute(3)]), True),
        (["n2"], sight([silent(1), server(2), server(3)]), True),
    ],
)
def test_data_are_lost_where_no_copy_stays(gone: list[str], at: Sight, lost: bool) -> None:
    assert bool(lost_with(gone, at)) is lost


def test_a_server_of_a_cluster_is_called_one() -> None:
    said: Any = server(1, redis_mode="cluster")
    assert (said.state, said.role) == ("CLUSTER", "other")
