"""The first screen says who was broken, who took over and when, in seconds and in time of day."""

import copy
from typing import Any

import pytest
from tests.show.report.conftest import Reported

from brownout.measure.document import impact_of
from brownout.show.report.material import Happening
from brownout.show.report.timeline import Moment, numbered, timeline


@pytest.fixture
def impact(killed: Reported) -> dict[str, Any]:
    """A copy to change: n1 was killed at 25.4 s and started at 29.4 s."""
    impact = copy.deepcopy(killed.impact)
    impact["started"] = "2026-11-22T10:15:00.000Z"
    return impact


def lines(impact: dict[str, Any]) -> list[str]:
    return [moment.line for moment in timeline(impact_of(impact))]


def succession(impact: dict[str, Any], after: str | None, first_yes: float | None) -> None:
    impact["faults"][0]["successions"] = [
        {"shard": "s1", "before": "n1", "after": after, "last_no": 0.0, "first_yes": first_yes}
    ]


def test_the_node_has_the_role_and_the_shard_that_it_had_and_its_heir_is_named(
    impact: dict[str, Any],
) -> None:
    impact["cluster"]["roles"] = {"primary": "master", "secondary": "replica"}
    impact["faults"][0]["events"][0]["evidence"] |= {"role": "primary"}
    succession(impact, "n2", 2.1)
    assert lines(impact)[:2] == [
        "at 25.4 s (10:15:25 UTC): n1, the master of s1, killed",
        "at 27.5 s (10:15:27 UTC): n2 took over as master of s1",
    ]


def test_another_role_is_said_too_and_its_primary_stays_unmentioned(
    impact: dict[str, Any],
) -> None:
    impact["faults"][0]["events"][0]["evidence"] |= {"role": "secondary"}
    impact["faults"][0]["successions"] = [
        {"shard": "", "before": "n2", "after": "n2", "last_no": 0.0, "first_yes": 0.0}
    ]
    assert "at 25.4 s (10:15:25 UTC): n1, a secondary, killed" in lines(impact)
    assert not any("took over" in line for line in lines(impact))


def test_an_heir_that_never_came_stands_at_the_end(impact: dict[str, Any]) -> None:
    succession(impact, None, None)
    assert lines(impact)[-1] == "no node was seen as the next primary of s1 before the run ended"


def test_redundancy_that_never_came_back_stands_at_the_end(impact: dict[str, Any]) -> None:
    for milestone in impact["faults"][0]["milestones"]:
        if milestone["name"] == "redundant":
            milestone["first_yes"] = None
    assert lines(impact)[-1] == "redundancy was not back before the run ended"


def test_an_old_run_that_does_not_say_when_it_began_has_seconds_alone(
    impact: dict[str, Any],
) -> None:
    del impact["started"]
    assert "at 25.4 s: n1, the primary, killed" in lines(impact)


def test_an_effect_that_is_not_proven_is_told_as_such(impact: dict[str, Any]) -> None:
    impact["faults"][0]["events"][0]["effective"] = None
    words = "n1, the primary, killed: requested, its effect is not proven"
    assert f"at 25.3 s (10:15:25 UTC): {words}" in lines(impact)


def test_a_fault_that_ended_before_its_undo_has_its_true_length(impact: dict[str, Any]) -> None:
    lasted = {"ended_early": True, "lasted_s": [0.12, 0.98]}
    impact["faults"][0]["events"][0]["evidence"] |= lasted
    words = "n1, the primary, killed; it ended by itself after 0.1 to 1.0 s"
    assert f"at 25.4 s (10:15:25 UTC): {words}" in lines(impact)


def test_moments_have_the_numbers_of_the_figures_each_once() -> None:
    moments = [Moment(59.22, "", word, "milestone") for word in ("rejoined", "redundant")]
    moments.append(Moment(57.0, "", "n2 took over as primary", "succession"))
    events = [
        Happening(3, 59.2199998, "milestone", "rejoined", {}),
        Happening(4, 59.2200001, "milestone", "redundant", {}),
        Happening(None, 57.0, "note", "a step", {}),
    ]
    assert [each.number for each in numbered(moments, events)] == [3, 4, None]
