"""Events become episodes: one fault from its first break to its mending."""

from typing import Any

import pytest

from brownout.measure.episodes import Milestone, episodes, has_landed, mended, milestone
from brownout.measure.milestones import milestones_of, not_before
from brownout.run.events import Event

END = 90.0


def act(
    type: str, name: str, requested: float | None, effective: float | None, **more: Any
) -> Event:
    return Event(0, type, name, "n1", requested=requested, effective=effective, **more)


def reached(name: str, last_no: float | None, first_yes: float | None) -> Event:
    fields = {"last_no": last_no, "first_yes": first_yes}
    return Event(0, "milestone", name, requested=first_yes or last_no, fields=fields)


KILL = act("break", "kill_node", 20.0, 20.3)
WIPE = act("break", "wipe_node", 22.0, 22.4)
START = act("mend", "start_node", 24.0, 24.6)
REJOINED = reached("rejoined", 28.0, 28.2)
REDUNDANT = reached("redundant", 34.0, 34.1)
SECOND = act("break", "pause_node", 50.0, 50.1)


def test_one_fault_is_all_from_its_first_break_to_its_milestones() -> None:
    (found,) = episodes([KILL, WIPE, START, REJOINED, REDUNDANT], END)
    assert found.name == "kill_node"
    assert found.events == (KILL, WIPE, START)
    assert found.milestones == (REJOINED, REDUNDANT)
    assert (found.requested, found.effective, found.start, found.until) == (20.0, 20.3, 20.0, END)


def test_a_break_after_redundancy_is_another_fault() -> None:
    first, second = episodes([KILL, START, REDUNDANT, SECOND], END)
    assert (first.name, first.until) == ("kill_node", 50.0)
    assert (second.name, second.until) == ("pause_node", END)


def test_a_break_before_redundancy_belongs_to_the_same_fault() -> None:
    (found,) = episodes([KILL, START, reached("redundant", 30.0, None), SECOND], END)
    assert found.events == (KILL, START, SECOND)


def test_a_fault_that_ended_before_its_undo_was_mended_by_what_ended_it() -> None:
    lasted = {"ended_early": True, "lasted_s": [0.2, 1.0]}
    early = act("break", "kill_node", 20.0, 20.3, evidence=lasted)
    undone = act("mend", "start_node", 25.0, 25.1, evidence={"already": True})
    (found,) = episodes([early, undone], END)
    assert mended(found) == pytest.approx(20.5)
    (lasting,) = episodes([KILL, START], END)
    assert mended(lasting) == 24.6
    (restored,) = episodes([early, reached("redundant", 23.0, 23.1), undone], END)
    waited = milestones_of(restored, 20.3).redundancy_time_after_start
    assert waited == pytest.approx((2.5, 2.6))


def test_a_managed_service_is_measured_from_its_first_effect() -> None:
    late = act("break", "test_failover", 16.0, 225.0)
    (found,) = episodes([late], 400.0, managed=True)
    assert (found.requested, found.effective, found.start) == (16.0, 225.0, 225.0)


@pytest.mark.parametrize(
    ("event", "landed"),
    [
        (KILL, True),
        (act("break", "kill_node", 20.0, None), False),
        (act("break", "kill_node", 20.0, 20.1, error="not permitted"), False),
        (act("break", "reboot_node", 20.0, 20.1, evidence={"skipped": True}), False),
        (act("break", "stop_node", 20.0, 20.1, evidence={"already": True}), False),
    ],
)
def test_a_fault_has_landed_where_its_effect_is_proven(event: Event, landed: bool) -> None:
    assert has_landed(event) is landed
    (found,) = episodes([event], END)
    assert (found.effective is not None) is landed


def test_what_a_server_refused_is_no_episode_and_no_part_of_one() -> None:
    refused = act("break", "step_down_primary", 20.0, None, error="no privilege", refused=True)
    assert episodes([refused], END) == []
    (found,) = episodes([KILL, refused], END)
    assert found.events == (KILL,)


def test_nothing_broken_is_no_episode() -> None:
    assert episodes([START, REDUNDANT], END) == []


def test_events_before_the_load_are_in_no_episode() -> None:
    assert episodes([act("break", "kill_node", None, None)], END) == []


def test_milestones_are_bracketed_from_the_effect_and_from_the_start() -> None:
    (found,) = episodes([KILL, START, REJOINED, REDUNDANT], END)
    times = milestones_of(found, 20.3)
    assert times.rejoin_time == pytest.approx((7.7, 7.9))
    assert times.rejoin_time_after_start == pytest.approx((4.0, 4.2))
    assert times.redundancy_time == pytest.approx((13.7, 13.8))
    assert times.redundancy_time_after_start == pytest.approx((10.0, 10.1))


def test_a_milestone_that_was_never_reached_has_no_time() -> None:
    (found,) = episodes([KILL, START, reached("rejoined", 80.0, None)], END)
    times = milestones_of(found, 20.3)
    assert times.rejoin_time is None
    assert times.rejoin_time_after_start is None
    assert milestone(found, "rejoined") == Milestone(80.0, None)
    assert milestone(found, "redundant") is None


def test_a_milestone_that_was_missed_and_then_reached_has_the_later_time() -> None:
    late = [reached("redundant", 40.0, None), reached("redundant", 60.0, 60.2)]
    (found,) = episodes([KILL, START, *late], END)
    assert milestones_of(found, 20.3).redundancy_time == pytest.approx((39.7, 39.9))


def revoked(name: str, at: float) -> Event:
    fields = {"last_no": at, "first_yes": None, "revoked": True}
    return Event(0, "milestone", name, requested=at, fields=fields)


def test_a_milestone_that_was_revoked_has_the_time_at_which_it_was_reached_for_good() -> None:
    early, later = reached("rejoined", 38.6, 38.8), reached("rejoined", 70.0, 70.2)
    (found,) = episodes([KILL, START, early, revoked("rejoined", 45.0), later], END)
    assert milestones_of(found, 20.3).rejoin_time == pytest.approx((49.7, 49.9))
    (found,) = episodes([KILL, START, early, revoked("rejoined", 45.0)], END)
    assert milestones_of(found, 20.3).rejoin_time is None
    assert milestone(found, "rejoined") == Milestone(45.0, None)


@pytest.mark.parametrize("last", [[], [reached("rejoined", 45.0, None)]], ids=["", "missed"])
def test_redundancy_bounds_a_rejoining_that_was_revoked_and_not_seen_again(
    last: list[Event],
) -> None:
    again = reached("redundant", 46.0, 47.2)
    seen = [KILL, START, REJOINED, REDUNDANT, revoked("redundant", 44.0), revoked("rejoined", 45.0)]
    (found,) = episodes([*seen, *last, again], END)
    assert milestone(found, "rejoined") == Milestone(45.0, 47.2)
    times = milestones_of(found, 20.3)
    assert times.rejoin_time == pytest.approx((24.7, 26.9))
    assert times.rejoin_time_after_start == pytest.approx((21.0, 23.2))
    assert times.redundancy_time == pytest.approx((25.7, 26.9))
    assert not_before(found, 20.3) == {}


def test_redundancy_that_was_revoked_bounds_nothing() -> None:
    seen = [KILL, START, REJOINED, REDUNDANT, revoked("rejoined", 45.0), revoked("redundant", 45.1)]
    (found,) = episodes(seen, END)
    assert milestone(found, "rejoined") == Milestone(45.0, None)


def test_redundancy_before_a_no_bounds_nothing() -> None:
    late = revoked("redundant", END + 0.1)  # of the same look, whose second half came too late
    (found,) = episodes([KILL, START, REJOINED, REDUNDANT, revoked("rejoined", 89.9), late], END)
    assert milestone(found, "rejoined") == Milestone(89.9, None)


def test_where_nobody_looked_for_rejoining_redundancy_says_nothing_of_it() -> None:
    (found,) = episodes([KILL, START, REDUNDANT], END)
    assert milestone(found, "rejoined") is None


def test_what_is_put_back_after_the_load_revokes_nothing() -> None:
    (found,) = episodes([KILL, START, REDUNDANT, revoked("redundant", END + 1)], END)
    assert milestones_of(found, 20.3).redundancy_time == pytest.approx((13.7, 13.8))


def test_a_break_while_redundancy_is_lost_again_belongs_to_the_same_fault() -> None:
    (found,) = episodes([KILL, START, REDUNDANT, revoked("redundant", 40.0), SECOND], END)
    assert found.events == (KILL, START, SECOND)


def test_a_milestone_seen_at_the_first_look_lies_after_the_effect() -> None:
    (found,) = episodes([KILL, reached("rejoined", None, 20.5)], END)
    times = milestones_of(found, 20.3)
    assert times.rejoin_time == pytest.approx((0.0, 0.2))
    assert times.rejoin_time_after_start is None  # nothing was started
