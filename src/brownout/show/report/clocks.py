"""The recovery clocks of a fault on one axis: service, every member back, redundancy back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.base.words import duration
from brownout.measure.impact import Fault, Judged
from brownout.measure.measures import label
from brownout.show.report.axes import Axis, time
from brownout.show.report.words import NOT_SEEN

__all__ = ["Clock", "Clocks", "clocks"]

#: The measures that have a clock.
SHOWN = ("recovery_time", "settled_time", "rejoin_time", "redundancy_time")
_STYLES = dict(zip(SHOWN, ("first", "raw", "third", "fourth"), strict=True))


@dataclass(frozen=True, slots=True)
class Clock:
    """One bar; places in % of the axis. `sure` ends where it was last seen not to be so yet.

    `goal` is where its limit stands; None without one, or with one that is far beyond the axis.
    """

    name: str
    style: str
    words: str
    sure: float
    unsure: float
    goal: float | None
    goal_words: str
    reached: bool


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of one fault over `axis`, in seconds since its effect."""

    name: str
    axis: Axis
    bars: tuple[Clock, ...]


def clocks(fault: Fault, slos: Sequence[Judged], name: str) -> Clocks | None:
    """Return the clocks of `fault`; None where it took no effect, so that none was started."""
    if fault.effective is None:
        return None
    limits = {slo.name: slo.limit for slo in slos if slo.scope == "total"}
    goals = {key: goal for key in SHOWN if (goal := _goal(fault, limits, key)) is not None}
    pairs = {key: _pair(fault.figure(key)) for key in SHOWN}
    times = [pair[1] for pair in pairs.values() if pair[1] is not None]
    # A limit far beyond everything would press the bars together: it is only written then.
    longest = max([*times, 1.0])
    near = [goal for goal in goals.values() if goal <= 4 * longest]
    axis = time(0.0, 1.05 * max([longest, *near]), wanted=6)
    bars = tuple(_bar(key, pair, goals.get(key), axis) for key, pair in pairs.items())
    return Clocks(name, axis, bars)


def _goal(fault: Fault, limits: Mapping[str, float], key: str) -> float | None:
    """A limit in seconds since the effect, also one that counts from a node's return."""
    since = f"{key}_after_start"
    if key in limits or since not in limits:
        return limits.get(key)
    whole, part = fault.number(key), fault.number(since)
    return None if whole is None or part is None else limits[since] + whole - part


def _bar(
    key: str, pair: tuple[float | None, float | None], goal: float | None, axis: Axis
) -> Clock:
    last_no, first_yes = pair
    end = 100.0 if first_yes is None else 100 * axis.position(first_yes)
    sure = end if last_no is None else min(end, 100 * axis.position(last_no))
    shown = goal is not None and goal <= axis.high
    return Clock(
        name=label(key),
        style=_STYLES[key],
        words=NOT_SEEN if first_yes is None else duration(first_yes),
        sure=sure,
        unsure=end - sure,
        goal=100 * axis.position(goal) if goal is not None and shown else None,
        goal_words="" if goal is None else f"limit {duration(goal)}",
        reached=first_yes is not None,
    )


def _pair(value: Any) -> tuple[float | None, float | None]:
    """[last no, first yes]; a plain number has no last no."""
    if isinstance(value, tuple):
        return value[0], value[-1]
    return None, value
