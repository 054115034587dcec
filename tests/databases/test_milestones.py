"""What a cluster lacks: words while a milestone is not reached, and nothing only once it is."""

from typing import Any

import pytest

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import MilestoneState
from brownout.databases.milestones import await_nothing, missing_until, still_unmet, unmet


class Saying:
    """An adapter that lacks these things when asked, and the last of them from then on."""

    def __init__(self, *missing: list[str], reached: bool | None = None) -> None:
        self._missing, self._reached = list(missing), reached

    def stable(self, milestone: str) -> MilestoneState:
        missing = self._missing.pop(0) if len(self._missing) > 1 else self._missing[0]
        reached = not missing if self._reached is None else self._reached
        return MilestoneState(reached, {"missing": missing})


@pytest.mark.parametrize(
    ("reached", "missing", "words"),
    [
        (True, [], []),
        (False, ["n2 is down"], ["n2 is down"]),
        (False, [], ["it does not say why"]),  # nothing is missing, and yet it is not whole
        (True, ["n2 is late"], []),
    ],
)
def test_a_milestone_that_is_not_reached_always_lacks_something(
    reached: bool, missing: list[str], words: list[str]
) -> None:
    adapter: Any = Saying(missing, reached=reached)
    assert unmet(adapter, "whole") == words


def test_waiting_ends_when_nothing_is_lacking_and_says_what_was() -> None:
    answers: list[list[str]] = [["n2"], ["n2", "n3"], []]
    said: list[list[str]] = []
    assert await_nothing(lambda: answers.pop(0), 10, said.append, poll_s=0) == []
    assert said == [["n2"], ["n2", "n3"]]


def test_waiting_returns_what_is_lacking_still_and_a_silent_cluster_lacks_an_answer() -> None:
    def silent() -> list[str]:
        raise ClusterError("nobody answers")

    assert await_nothing(silent, 0, poll_s=0) == ["nobody answers"]


def test_a_write_on_its_way_to_the_other_members_is_not_lacking_at_a_second_look() -> None:
    adapter: Any = Saying(["n2 is 19.5 s behind (wanted 10)"], [])
    assert still_unmet(adapter, "whole") == []


def test_what_is_lacking_at_every_look_is_still_lacking() -> None:
    adapter: Any = Saying(["n2 is down"])
    assert still_unmet(adapter, "whole") == ["n2 is down"]


def test_a_milestone_includes_those_before_it_and_no_later_one_is_looked_at() -> None:
    steps = (lambda: ["a"], lambda: ["b", "c"], lambda: ["d"])
    assert missing_until("rejoined", *steps) == ["a"]
    assert missing_until("redundant", *steps) == ["a", "b", "c"]
    assert missing_until("whole", *steps) == ["a", "b", "c", "d"]
    with pytest.raises(ConfigurationError, match="wanted rejoined, redundant or whole"):
        missing_until("healthy", *steps)
