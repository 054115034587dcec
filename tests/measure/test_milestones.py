"""Waits count from the effect, and from the return, which is the experiment's decision."""

from typing import Any

import pytest

from brownout.measure.episodes import episodes
from brownout.measure.milestones import milestones_of, not_before
from brownout.run.events import Event

KILLED = Event(1, "break", "kill_node", "n1", requested=20.0, effective=20.1)
NEVER = Event(3, "milestone", "redundant", requested=700.0, fields={"last_no": 690.0})
REDUNDANT = Event(
    3, "milestone", "redundant", requested=633.0, fields={"last_no": 630.0, "first_yes": 633.0}
)


def waits(*events: Event) -> Any:
    (episode,) = episodes(events, 800.0)
    return milestones_of(episode, 20.1), not_before(episode, 20.1)


@pytest.mark.parametrize(
    "mend",
    ["start_node", "resume_node", "heal_partition", "add_node", "undelay_node", "start_supervisor",
     "end_outage", "resume_cluster", "unquiesce_node", "a_step_of_the_user"],
)  # fmt: skip
def test_redundancy_counts_from_any_mend_however_long_the_node_was_away(mend: str) -> None:
    mended = Event(2, "mend", mend, "n1", requested=620.0, effective=621.0)
    found, _ = waits(KILLED, mended, REDUNDANT)
    assert found.redundancy_time == pytest.approx((609.9, 612.9))
    assert found.redundancy_time_after_start == pytest.approx((10.0, 13.0))
    _, least = waits(KILLED, mended, NEVER)
    assert least["redundancy_time_after_start"] == pytest.approx(70.0)


@pytest.mark.parametrize("more", [{"error": "refused"}, {"evidence": {"already": True}}])
def test_a_mend_without_effect_is_not_counted_from(more: dict[str, Any]) -> None:
    started = Event(2, "mend", "start_node", "n1", requested=600.0, effective=601.0)
    again = Event(4, "mend", "unquiesce_node", "n1", requested=625.0, effective=626.0, **more)
    found, _ = waits(KILLED, started, again, REDUNDANT)
    assert found.redundancy_time_after_start == pytest.approx((30.0, 33.0))
    alone, _ = waits(KILLED, again, REDUNDANT)
    assert alone.redundancy_time_after_start is None
