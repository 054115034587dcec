"""The shortest schedule that still breaks the promise: delta debugging. Pure.

First fewer steps, then fewer targets, simpler moments and shorter times, one change at a time,
each kept if the promise still breaks as often. Source: Zeller and Hildebrandt, Simplifying and
isolating failure-inducing input, IEEE TSE 28(2), 2002: what is left is 1-minimal.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from brownout.runs.explore.schedule import OVERLAPPING, PROMOTED, REDUNDANT, Schedule, Step
from brownout.session.targets import BROKEN

__all__ = ["shrink"]

#: Shorter than this no time is made.
_SHORTEST_S = 1.0


def shrink(schedule: Schedule, holds: Callable[[Schedule], bool]) -> Iterator[Schedule]:
    """Yield ever simpler schedules that `holds`, beginning with `schedule`; the last is minimal."""
    best = schedule
    yield best
    for simpler in (_fewer_steps, _fewer_targets, _simpler_moments, _shorter_times):
        while (next_best := _first(simpler(best), holds)) is not None:
            best = next_best
            yield best


def _first(candidates: Iterator[Schedule], holds: Callable[[Schedule], bool]) -> Schedule | None:
    return next((each for each in candidates if each.is_possible and holds(each)), None)


def _fewer_steps(schedule: Schedule) -> Iterator[Schedule]:
    """Leave out one step; the next one takes its place in time."""
    steps = schedule.steps
    for number, left_out in enumerate(steps):
        rest = list(steps[:number] + steps[number + 1 :])
        if not rest:
            return
        if number < len(rest):
            rest[number] = _in_place_of(left_out, rest[number])
        yield Schedule(tuple(rest))


def _in_place_of(left_out: Step, step: Step) -> Step:
    node = left_out.node if step.node == BROKEN else step.node
    depends = step.when in (OVERLAPPING, PROMOTED) or left_out.when == REDUNDANT
    if not depends:
        return replace(step, node=node)
    return replace(step, node=node, when=left_out.when, gap_s=left_out.gap_s)


def _fewer_targets(schedule: Schedule) -> Iterator[Schedule]:
    """Have a step break whom the first one breaks."""
    first = schedule.steps[0].node
    for number, step in enumerate(schedule.steps):
        if step.node not in (first, BROKEN):
            yield _with(schedule, number, replace(step, node=first))


def _simpler_moments(schedule: Schedule) -> Iterator[Schedule]:
    """Have a step wait until the cluster is redundant."""
    for number, step in enumerate(schedule.steps):
        if step.when != REDUNDANT and step.node != BROKEN:
            yield _with(schedule, number, replace(step, when=REDUNDANT, gap_s=0.0))


def _shorter_times(schedule: Schedule) -> Iterator[Schedule]:
    """Leave out a gap; halve all times, or those of a step."""
    halved = Schedule(tuple(map(_halved, schedule.steps)))
    if halved != schedule:
        yield halved
    for number, step in enumerate(schedule.steps):
        if step.gap_s:
            yield _with(schedule, number, replace(step, gap_s=0.0))
        if _halved(step) != step:
            yield _with(schedule, number, _halved(step))


def _halved(step: Step) -> Step:
    if step.lasts_s < 2 * _SHORTEST_S:
        return step
    return replace(step, lasts_s=round(step.lasts_s / 2, 1))


def _with(schedule: Schedule, number: int, step: Step) -> Schedule:
    steps = list(schedule.steps)
    steps[number] = step
    return Schedule(tuple(steps))
