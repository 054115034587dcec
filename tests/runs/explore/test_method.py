"""A schedule as an experiment: every one is valid, and in the order of its times."""

import json
from itertools import islice
from typing import Any

import pytest

from brownout.runs.explore.draw import Space, schedules
from brownout.runs.explore.method import experiment_of
from brownout.runs.explore.oracles import LIMITS
from brownout.runs.explore.schedule import Schedule, Step
from brownout.session.experiment_checks import problems

LAB = "lab-mongodb-majority"
FAULTS: dict[str, dict[str, Any]] = {
    "kill_node": {},
    "pause_node": {},
    "partition_node": {},
    "step_down_primary": {},
    "cut_one_way": {"direction": ("in", "out"), "peers": ("members", "clients")},
    "slow_disk": {"latency_ms": (5, 50)},
}


def experiment(schedule: Schedule) -> dict[str, Any]:
    return experiment_of(
        schedule, cluster=LAB, limits=LIMITS, title="t", description=schedule.words,
        settings={"seed": 3, "milestone_limit_s": 60},
    )  # fmt: skip


def method(*steps: Step) -> list[str]:
    """The activities of a method, each with the seconds that it waits: `1-kill-node +2`."""
    return [
        f"{each['name']} +{each.get('pauses', {}).get('before', 0):g}"
        for each in experiment(Schedule(steps))["method"]
    ]


@pytest.mark.parametrize("max_down", [1, 2])
def test_every_schedule_that_is_drawn_is_a_valid_experiment(max_down: int) -> None:
    space = Space(FAULTS, ("primary", "secondary"), max_down)
    for schedule in islice(schedules(space, 11), 40):
        assert problems(experiment(schedule)) == [], schedule.words


def test_one_fault_after_the_other_waits_for_redundancy_where_it_is_to() -> None:
    kill = Step("kill_node", "primary", "redundant", 0, 4)
    pause = Step("pause_node", "secondary", "redundant", 2, 8)
    assert method(kill, pause) == [
        "1-kill-node +0", "1-start-node +4", "2-wait-until-redundant +0", "2-pause-node +2",
        "2-resume-node +8",
    ]  # fmt: skip


def test_a_fault_of_a_cluster_that_recovers_comes_right_after_the_undo() -> None:
    kill = Step("kill_node", "primary", "redundant", 0, 4)
    again = Step("kill_node", "primary", "recovering", 0.5, 2)
    assert method(kill, again) == [
        "1-kill-node +0", "1-start-node +4", "2-kill-node +0.5", "2-start-node +2"
    ]  # fmt: skip


def test_faults_that_overlap_are_undone_each_at_its_time() -> None:
    partition = Step("partition_node", "primary", "redundant", 0, 8)
    kill = Step("kill_node", "secondary", "overlapping", 2, 3)
    assert method(partition, kill) == [
        "1-partition-node +0", "2-kill-node +2", "2-start-node +3", "1-heal-partition +3"
    ]  # fmt: skip


def test_a_fault_after_the_promotion_waits_for_it() -> None:
    pause = Step("pause_node", "primary", "redundant", 0, 8)
    kill = Step("kill_node", "primary", "promoted", 1, 15)
    assert method(pause, kill) == [
        "1-pause-node +0", "2-wait-until-promoted +0", "2-kill-node +1", "1-resume-node +7",
        "2-start-node +8",
    ]  # fmt: skip


def test_the_switch_of_a_fault_comes_after_its_undo() -> None:
    steps = Schedule((Step("pause_node", "primary", "redundant", 0, 15),))
    assert '"undo_after_s": 75' in json.dumps(experiment(steps))


def test_the_cluster_may_be_degraded_only_where_a_step_does_not_wait() -> None:
    kill = Step("kill_node", "primary", "redundant", 0, 4)
    alone = experiment(Schedule((kill,)))
    assert "while_degraded" not in alone["configuration"]
    both = experiment(Schedule((kill, Step("kill_node", "primary", "recovering", 0, 4))))
    assert both["configuration"]["while_degraded"] is True
