"""Schedules: what may follow what, and how people read it."""

import pytest

from brownout.runs.explore.schedule import (
    OVERLAPPING,
    PROMOTED,
    RECOVERING,
    REDUNDANT,
    Schedule,
    Step,
)

PAUSE = Step("pause_node", "primary", lasts_s=8)
LOSSY = Step("lose_packets", "primary", lasts_s=8, arguments={"percent": 20})
HAND_OVER = Step("step_down_primary", "primary")


def test_people_read_it_as_a_sentence() -> None:
    kill = Step("kill_node", "secondary", RECOVERING, 0.5, 4)
    assert Schedule((LOSSY, kill)).words == (
        "lose_packets of the primary (percent 20) for 8 s; 0.5 s later, while the cluster "
        "recovers: kill_node of the secondary for 4 s"
    )


def test_it_is_read_as_it_was_written() -> None:
    schedule = Schedule((LOSSY, Step("kill_node", "broken", OVERLAPPING, 1, 4)))
    assert Schedule.of(schedule.document()) == schedule


@pytest.mark.parametrize(
    ("first", "second", "possible"),
    [
        (PAUSE, Step("kill_node", "primary", REDUNDANT, 0, 1), True),
        (PAUSE, Step("kill_node", "primary", RECOVERING, 0, 1), True),
        (HAND_OVER, Step("kill_node", "primary", REDUNDANT, 0, 1), True),
        (HAND_OVER, Step("kill_node", "primary", RECOVERING, 0, 1), False),
        (HAND_OVER, Step("kill_node", "primary", OVERLAPPING, 0, 1), False),
        (PAUSE, Step("kill_node", "secondary", OVERLAPPING, 4, 1), True),
        (PAUSE, Step("kill_node", "secondary", OVERLAPPING, 8, 1), False),
        (PAUSE, Step("pause_node", "secondary", OVERLAPPING, 4, 1), False),
        (PAUSE, Step("kill_node", "primary", PROMOTED, 4, 1), True),
        (LOSSY, Step("kill_node", "primary", PROMOTED, 4, 1), False),
        (LOSSY, Step("kill_node", "broken", OVERLAPPING, 4, 1), True),
        (PAUSE, Step("kill_node", "broken", OVERLAPPING, 4, 1), False),
        (PAUSE, Step("lose_packets", "broken", OVERLAPPING, 4, 1), False),
        (LOSSY, Step("kill_node", "broken", REDUNDANT, 4, 1), False),
    ],
)
def test_a_step_may_follow_only_what_leaves_it_something_to_break(
    first: Step, second: Step, possible: bool
) -> None:
    assert Schedule((first, second)).is_possible is possible


def test_it_begins_with_a_whole_cluster() -> None:
    assert not Schedule((Step("kill_node", "primary", RECOVERING, 0, 1),)).is_possible
    assert not Schedule((Step("kill_node", "broken", REDUNDANT, 0, 1),)).is_possible
    assert not Schedule(()).is_possible


def test_it_breaks_a_degraded_cluster_only_if_a_step_does_not_wait() -> None:
    waits = Step("kill_node", "primary", REDUNDANT, 0, 1)
    assert not Schedule((PAUSE, waits)).while_degraded
    assert Schedule((PAUSE, waits, Step("kill_node", "primary", RECOVERING, 0, 1))).while_degraded
