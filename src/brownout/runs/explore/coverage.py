"""What was tried: which step really began at which moment, after which. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from brownout.measure.impact import Act, Fault, Impact
from brownout.runs.explore.draw import Cell, cells_of
from brownout.runs.explore.schedule import (
    OVERLAPPING,
    PROMOTED,
    RECOVERING,
    REDUNDANT,
    WHENS,
    Schedule,
)

__all__ = ["Row", "happened", "rows", "tried_cells"]


@dataclass(frozen=True, slots=True)
class Row:
    """A step, how often it took effect at each moment, and after how many others."""

    step: str
    moments: tuple[int, ...]
    predecessors: int


def happened(schedule: Schedule, impact: Impact | None) -> tuple[str, ...]:
    """Return for each step the moment at which it took effect; empty where it did not.

    A step that was to come while the cluster recovers may have come too late for that, and one that
    was to come while another lasts after a new primary.
    """
    breaks = [
        (fault, act) for fault in (impact.faults if impact else ()) for act in fault.events
        if act.type == "break" and act.effective is not None
    ]  # fmt: skip
    breaks.sort(key=lambda each: each[1].requested or 0.0)
    moments = []
    for step in schedule.steps:
        if not breaks or breaks[0][1].name != step.fault:
            moments.append("")
            continue
        moments.append(_moment(step.when, *breaks.pop(0)))
    return tuple(moments)


def _moment(planned: str, fault: Fault, act: Act) -> str:
    at = act.effective or 0.0
    if planned == RECOVERING:
        redundant = [m.first_yes for m in fault.milestones if m.name == REDUNDANT]
        return REDUNDANT if any(t is not None and t <= at for t in redundant) else RECOVERING
    if planned == OVERLAPPING and fault.effective is not None:
        since = at - fault.effective
        for each in fault.successions:
            if each.first_yes is not None and 0 < each.first_yes <= since:
                return PROMOTED
    return planned


def tried_cells(schedule: Schedule, moments: Sequence[str]) -> list[Cell]:
    """Return the cells of the steps that took effect, as they really were."""
    steps = tuple(
        replace(step, when=moment or step.when)
        for step, moment in zip(schedule.steps, moments, strict=True)
    )
    cells = cells_of(Schedule(steps))
    return [cell for cell, moment in zip(cells, moments, strict=True) if moment]


def rows(cells: Iterable[Cell]) -> list[Row]:
    """Return what was tried of each step, by name."""
    moments: dict[str, Counter[str]] = defaultdict(Counter)
    before: dict[str, set[str]] = defaultdict(set)
    for last, when, step in cells:
        moments[step][when] += 1
        before[step].update(filter(None, [last]))
    return [
        Row(step, tuple(moments[step][when] for when in WHENS), len(before[step]))
        for step in sorted(moments)
    ]
