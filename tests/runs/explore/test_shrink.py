"""Shrinking: from a schedule with noise in it to the smallest that breaks the promise."""

from collections.abc import Callable

from brownout.runs.explore.schedule import RECOVERING, REDUNDANT, Schedule, Step
from brownout.runs.explore.shrink import shrink

KILL = Step("kill_node", "primary", REDUNDANT, 1, 8)
PAUSE = Step("pause_node", "secondary", RECOVERING, 2, 8)
NOISE = Step("lose_packets", "secondary", RECOVERING, 1, 4, {"percent": 5})


def shortest(schedule: Schedule, holds: Callable[[Schedule], bool]) -> Schedule:
    return list(shrink(schedule, holds))[-1]


def faults(schedule: Schedule) -> list[str]:
    return [step.fault for step in schedule.steps]


def test_only_the_steps_that_it_takes_are_left() -> None:
    schedule = Schedule((KILL, NOISE, PAUSE, NOISE))

    def kill_then_pause(each: Schedule) -> bool:
        names = faults(each)
        return "kill_node" in names and "pause_node" in names[names.index("kill_node") :]

    assert faults(shortest(schedule, kill_then_pause)) == ["kill_node", "pause_node"]


def test_the_first_step_may_be_the_one_too_many() -> None:
    shrunk = shortest(Schedule((KILL, NOISE, PAUSE)), lambda each: "pause_node" in faults(each))
    assert faults(shrunk) == ["pause_node"]
    assert shrunk.is_possible


def test_a_node_that_matters_and_a_moment_that_matters_are_kept() -> None:
    schedule = Schedule((KILL, PAUSE))

    def while_it_recovers(each: Schedule) -> bool:
        return any((s.node, s.when) == ("secondary", RECOVERING) for s in each.steps)

    last = shortest(schedule, while_it_recovers).steps[-1]
    assert (last.node, last.when) == ("secondary", RECOVERING)


def test_others_become_those_of_the_first_step_after_a_wait() -> None:
    last = shortest(Schedule((KILL, PAUSE)), lambda each: len(each.steps) == 2).steps[-1]
    assert (last.node, last.when, last.gap_s) == ("primary", REDUNDANT, 0)


def test_times_are_halved_as_long_as_it_still_breaks() -> None:
    (step,) = shortest(Schedule((KILL,)), lambda each: each.steps[0].lasts_s >= 3).steps
    assert (step.lasts_s, step.gap_s) == (4, 0)


def test_every_schedule_on_the_way_held_and_is_possible() -> None:
    asked: list[Schedule] = []

    def holds(each: Schedule) -> bool:
        asked.append(each)
        return len(each.steps) >= 2

    way = list(shrink(Schedule((KILL, NOISE, PAUSE)), holds))
    assert all(each.is_possible for each in asked)
    assert all(len(each.steps) >= 2 for each in way)
    assert way[0] == Schedule((KILL, NOISE, PAUSE))
