"""What a cluster lacks: words while a milestone is not reached, and nothing only once it is."""

from typing import Any

import pytest

from brownout.cluster.adapter import MilestoneState
from brownout.cluster.lacking import await_nothing, lacks
from brownout.errors import ClusterError


class Saying:
    """An adapter that has one answer."""

    def __init__(self, reached: bool, missing: list[str]) -> None:
        self._state = MilestoneState(reached, {"missing": missing})

    def stable(self, milestone: str) -> MilestoneState:
        return self._state


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
    adapter: Any = Saying(reached, missing)
    assert lacks(adapter, "whole") == words


def test_waiting_ends_when_nothing_is_lacking_and_says_what_was() -> None:
    answers: list[list[str]] = [["n2"], ["n2", "n3"], []]
    said: list[list[str]] = []
    assert await_nothing(lambda: answers.pop(0), 10, said.append, poll_s=0) == []
    assert said == [["n2"], ["n2", "n3"]]


def test_waiting_returns_what_is_lacking_still_and_a_silent_cluster_lacks_an_answer() -> None:
    def silent() -> list[str]:
        raise ClusterError("nobody answers")

    assert await_nothing(silent, 0, poll_s=0) == ["nobody answers"]
