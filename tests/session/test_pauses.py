"""The pauses of a step: waited by us, ended by a failure, and known to be late."""

from typing import Any

import pytest
from chaoslib.activity import execute_activity

from brownout.session.pauses import Pauses

Activity = dict[str, Any]


class Clock:
    """Time that goes on only where it is waited for; each pause takes `stretch` times as long."""

    def __init__(self, stretch: float = 1.0) -> None:
        self.now, self._stretch = 100.0, stretch

    def monotonic(self) -> float:
        return self.now

    def wait_until(self, look: Any, within_s: float, every_s: float) -> bool:
        if not look():
            self.now += within_s * self._stretch
        return bool(look())


def step(**sides: Any) -> Activity:
    return {"type": "action", "name": "start-the-node", "pauses": sides, "provider": {}}


def waited(
    activity: Activity,
    monkeypatch: pytest.MonkeyPatch,
    stretch: float = 1.0,
    must_stop: bool = False,
    configuration: dict[str, Any] | None = None,
) -> tuple[float, list[tuple[str, float, float]], dict[str, Any]]:
    """Go through one step; return how long it took, what was late, and what the journal says."""
    clock, late = Clock(stretch), []
    monkeypatch.setattr("brownout.session.pauses.since_boot", clock.monotonic)
    monkeypatch.setattr("brownout.session.pauses.wait_until", clock.wait_until)
    own = Pauses(lambda: must_stop, lambda *_: None, lambda *told: late.append(told))
    own.before(activity, configuration or {}, {})
    run = {"activity": activity.copy()}
    assert "pauses" not in activity  # or Chaos Toolkit would wait for them too
    own.after(activity, run)
    return clock.now - 100.0, late, run["activity"]


def test_both_pauses_of_a_step_are_waited_for_and_the_journal_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    activity = step(before="${downtime_s}", after=3)
    took, late, noted = waited(activity, monkeypatch, configuration={"downtime_s": 2})
    assert (took, late) == (5.0, [])
    assert activity["pauses"] == noted["pauses"] == {"before": "${downtime_s}", "after": 3}


def test_no_pause_is_waited_for_where_the_run_has_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    took, late, _ = waited(step(before=600, after=600), monkeypatch, must_stop=True)
    assert (took, late) == (0.0, [])


@pytest.mark.parametrize(
    ("due_s", "stretch", "is_late"),
    [(2.0, 35.0, True), (2.0, 1.4, False), (60.0, 1.05, False), (60.0, 1.2, True)],
)
def test_a_pause_is_late_by_more_than_a_second_and_a_tenth_of_it(
    due_s: float, stretch: float, is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, late, _ = waited(step(before=due_s), monkeypatch, stretch)
    told = [("before start-the-node", due_s)] if is_late else []
    assert [(where, due) for where, due, _ in late] == told
    assert [took for _, _, took in late] == pytest.approx([due_s * stretch] * is_late)


@pytest.mark.parametrize("sides", [{}, {"before": "soon"}])
def test_what_is_no_pause_is_left_to_chaos_toolkit(sides: dict[str, Any]) -> None:
    activity = step(**sides)
    own = Pauses(lambda: False, lambda *_: None, lambda *_: None)
    own.before(activity, {}, {})
    assert activity["pauses"] == sides


def test_a_step_of_which_its_control_took_the_pauses_is_not_paused_for_again() -> None:
    provider = {"type": "python", "module": "platform", "func": "node"}
    activity = {"type": "action", "name": "a", "provider": provider, "pauses": {"after": 3600}}
    own = Pauses(lambda: True, lambda *_: None, lambda *_: None)
    own.before(activity, {}, {})
    assert execute_activity({}, activity, {}, {}, None)["status"] == "succeeded"
