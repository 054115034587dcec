"""Put the board together from what is known of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brownout.show.live.board import Board, Countdown
from brownout.show.live.course import countdown_of, marks_of, phase_of, title_of
from brownout.show.live.figures import figures_of
from brownout.show.live.outlook import Course, limits_of, measure, outlook_of

if TYPE_CHECKING:
    from brownout.run.events import Event
    from brownout.run.table import Series

__all__ = ["RunFacts", "compose"]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run now. Whatever is not known yet is empty or None.

    `record` is run.json. `phase`, where it is given, is more exact than what the events tell;
    `broken` likewise.
    """

    title: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence["Event"] = ()
    series: "Series | None" = None
    causes: Mapping[str, int] = field(default_factory=dict)
    percentiles_ms: tuple[float | None, float | None] = (None, None)
    phase: str = ""
    detail: str = ""
    progress: tuple[int, int] | None = None
    countdown: Countdown | None = None
    broken: Mapping[str, str] | None = None


def compose(facts: RunFacts) -> Board:
    """Return the board of this moment."""
    figures = None
    course = Course()
    limits = limits_of(facts.record)
    if facts.series is not None:
        figures = figures_of(facts.series, facts.causes, facts.percentiles_ms)
        if facts.record.get("settings"):
            course = measure(facts.series, facts.events, _settings(facts.record), limits)
    countdown = facts.countdown
    if countdown is None and figures is not None:
        countdown = countdown_of(facts.record, facts.events, figures.t)
    return Board(
        title=title_of(facts.record) or facts.title,
        phase=facts.phase or phase_of(facts.events),
        detail=facts.detail,
        progress=facts.progress,
        countdown=countdown,
        figures=figures,
        baseline_tps=course.baseline_tps,
        broken=_broken(facts),
        clocks=course.clocks,
        marks=marks_of(facts.events),
        outlook=outlook_of(course, limits) if course.clocks else None,
    )


def _settings(record: Mapping[str, Any]) -> Any:
    from brownout.measure.settings import MeasureSettings

    return MeasureSettings.from_mapping(record["settings"])


def _broken(facts: RunFacts) -> Mapping[str, str]:
    if facts.broken is not None:
        return facts.broken
    from brownout.faults import undos

    # A member that was only asked to step down still serves.
    pending = [each for each in undos.left(facts.events) if not undos.serving(each.action)]
    return {**undos.broken(pending), **undos.away(pending)}
