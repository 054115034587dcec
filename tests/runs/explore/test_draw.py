"""What is drawn from a seed: always possible, within the guards, and what was not tried first."""

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Any, cast

import pytest
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter, FailureDetection, Member, Support
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node
from brownout.runs.explore.draw import Space, cells_of, is_allowed, schedules, space_of
from brownout.runs.explore.schedule import PROMOTED, Schedule, Step, lasting

FAULTS: dict[str, dict[str, Any]] = {
    "kill_node": {},
    "pause_node": {},
    "partition_node": {},
    "step_down_primary": {},
    "lose_packets": {"percent": (5, 20, 50)},
}
SPACE = Space(FAULTS, ("primary", "secondary"))
NODES = tuple(Node(name=f"n{n}", address=f"127.0.0.1:{n}") for n in (1, 2, 3))


def drawn(space: Space = SPACE, seed: int = 7, n: int = 300) -> list[Schedule]:
    return list(islice(schedules(space, seed), n))


def test_the_same_seed_draws_the_same_and_another_seed_something_else() -> None:
    assert drawn(n=20) == drawn(n=20) != drawn(seed=8, n=20)


@pytest.mark.parametrize("max_down", [1, 2])
def test_everything_drawn_is_possible_and_never_has_more_nodes_down_than_allowed(
    max_down: int,
) -> None:
    for schedule in drawn(Space(FAULTS, ("primary", "secondary"), max_down)):
        assert schedule.is_possible, schedule.words
        assert 2 <= len(schedule.steps) <= 5
        assert schedule.takes_s <= 60
        for number in range(len(schedule.steps)):
            down = {
                step.node for step in lasting(schedule.steps[: number + 1])
                if step.node != "broken"
            }  # fmt: skip
            assert len(down) <= max_down, schedule.words


def test_two_nodes_are_broken_together_only_where_the_inventory_allows_it() -> None:
    both = Schedule(
        (
            Step("pause_node", "primary", lasts_s=8),
            Step("kill_node", "secondary", "overlapping", 1, 1),
        )
    )
    assert not is_allowed(SPACE, both)
    assert is_allowed(Space(FAULTS, ("primary", "secondary"), 2), both)


def test_a_database_that_elects_nothing_waits_for_no_new_primary() -> None:
    space = Space(FAULTS, ("random",), 2, elects=False)
    assert not any(step.when == PROMOTED for each in drawn(space) for step in each.steps)
    assert {step.node for each in drawn(space) for step in each.steps} <= {"random", "broken"}


def test_where_a_degraded_cluster_must_not_be_broken_every_other_node_waits() -> None:
    careful = Space(FAULTS, ("primary", "secondary"), 2, while_degraded=False)
    assert not any(schedule.while_degraded for schedule in drawn(careful))
    assert any(schedule.while_degraded for schedule in drawn())


def test_what_was_tried_rarely_comes_first() -> None:
    """In as many draws, it covers more than draws that do not look at what was drawn before."""
    tried: Counter[Any] = Counter()
    for schedule in drawn(n=60):
        tried.update(cells_of(schedule))
    alone: Counter[Any] = Counter()
    for seed in range(60):
        alone.update(cells_of(drawn(seed=seed, n=1)[0]))
    assert len(tried) > len(alone) * 1.1


class ThreeMembers:
    """A replica set that cannot do what is in `cannot`."""

    def __init__(self, *cannot: str) -> None:
        self._cannot = cannot

    def supports(self, act: str) -> Support:
        return Support(act not in self._cannot, "it has no such thing" * (act in self._cannot))

    def members(self) -> list[Member]:
        roles = ("primary", "secondary", "secondary")
        return [
            Member(node.name, node.address, role, role, True)
            for node, role in zip(NODES, roles, strict=True)
        ]


class Electing(ThreeMembers):
    """One whose members elect another primary after `seconds`; None where it does not say."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self._seconds = seconds

    def candidates(self) -> list[Any]:
        return []

    def failure_detection(self) -> FailureDetection | None:
        return None if self._seconds is None else FailureDetection("ttl", self._seconds)


def space(*cannot: str, members: ThreeMembers | None = None, **options: Any) -> Space:
    cluster = Cluster(
        name="c", database="mongodb", environment="test", nodes=NODES, connection=Connection(),
        **options.pop("settings", {}),
    )  # fmt: skip
    return space_of(cluster, cast(Adapter, members or ThreeMembers(*cannot)), **options)


@pytest.mark.parametrize(
    ("seconds", "longest_s", "past"),
    [(20.0, 60.0, 30.0), (30.0, 60.0, 45.0), (20.0, 25.0, 15.0), (2.0, 60.0, 15.0),
     (None, 60.0, 15.0)],
)  # fmt: skip
def test_a_fault_may_last_until_a_slow_database_has_elected_another_primary(
    seconds: float | None, longest_s: float, past: float
) -> None:
    there = space(
        members=Electing(seconds),
        longest_s=longest_s,
        settings={"guards": {"while_degraded": True}},
    )
    assert max(there.lasts_s) == past
    pauses = replace(SPACE, lasts_s=there.lasts_s)
    assert {step.lasts_s for each in drawn(pauses) for step in each.steps} >= {past}


def test_what_a_cluster_cannot_do_is_left_out_with_the_reason() -> None:
    with pytest.raises(ConfigurationError) as refused:
        space("stepdown", only=("step_down_primary",))
    assert "it has no such thing" in str(refused.value)


def test_what_a_node_without_a_host_cannot_do_is_left_out() -> None:
    there = space()
    assert list(there.faults) == ["step_down_primary"]
    assert "host" in there.left_out["kill_node"]
    assert there.roles == ("primary", "secondary")
    assert not there.while_degraded
    assert space(settings={"guards": {"while_degraded": True}}).while_degraded


def test_what_the_inventory_denies_is_left_out() -> None:
    with pytest.raises(ConfigurationError) as refused:
        space(settings={"guards": {"deny_acts": ("stepdown",)}})
    assert "the inventory denies it" in str(refused.value)


def test_every_unknown_fault_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        space(only=("kill",), without=("pause",))
    assert mentions(str(refused.value), "--only", "kill", "--without", "pause", "kill_node")
