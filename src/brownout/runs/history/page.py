"""A history as people and programs read it: a table of each kind of run, a page, and JSON."""

from collections.abc import Sequence
from typing import Any

from brownout.measure.impact import NEVER
from brownout.measure.measures import label
from brownout.runs.history.rows import measured
from brownout.runs.run_set import FinishedRun, Runs, never
from brownout.show.report.axes import Axis, linear
from brownout.show.report.grid import Cell, Grid, Words, columns
from brownout.show.report.plot import Form, Plot
from brownout.show.report.results import met
from brownout.show.report.sections import Section, page
from brownout.show.report.values import NONE, signed
from brownout.show.report.words import STAND_IN

__all__ = ["SHOWN", "as_document", "grid", "render"]

#: The measures that are followed.
SHOWN = (
    "tps_drop",
    "blackout",
    "recovery_time",
    "redundancy_time",
    "availability",
    "lost_seconds",
)
_FORMS: dict[str, tuple[Form, str]] = {"pass": ("pass", "good"), "fail": ("fail", "bad")}
#: A day is so wide, in pixels; a letter of a release's name too.
_DAY, _LETTER = 80, 7
_SAY = (
    "Each run is a step, in the order of time. A dot passed, a cross failed, a ring could not be "
    "judged, a triangle at the upper edge waited for what never came. A dashed line begins a "
    "release: another version of what was tested; dotted is the limit of the latest run."
)


def grid(name: str, runs: Runs) -> Grid:
    """Return the runs of one kind as a table, the latest last."""
    heads = " | ".join(f"{label(name)}:n" for name in SHOWN)
    rows: list[Words] = [
        [f"{run.began:%Y-%m-%d %H:%M}", run.release or NONE, _verdict(run.verdict),
         *(_measured(run, measure) for measure in SHOWN), run.run_id]
        for run in runs
    ]  # fmt: skip
    return Grid(
        name, columns(f"began (UTC):once | release:once | verdict:once | {heads} | run:once"), rows
    )


def as_document(runs: Runs) -> dict[str, Any]:
    """Return the history as JSON data; what never came is the text `never`."""
    return {
        "schema_version": 1,
        "runs": [
            {
                "run": run.run_id,
                "began": run.began.isoformat().replace("+00:00", "Z"),
                "scenario": run.scenario,
                "mode": run.impact.mode,
                "cluster": run.cluster,
                "database": run.impact.database,
                "stand_in": run.impact.stand_in,
                "workload": run.impact.workload_name,
                "verdict": run.verdict,
                "reasons": list(run.impact.reasons),
                "occasion": run.occasion,
                "path": str(run.path),
                "versions": dict(sorted(run.versions.items())),
                "measures": {
                    (name if scope == "total" else f"{scope}.{name}"): never(value)
                    for (scope, name), value in sorted(measured(run.impact).items())
                },
            }
            for run in runs
        ],
    }


def _measured(run: FinishedRun, measure: str) -> str:
    limit = run.impact.limit(measure)
    words = signed(measure, run.value(measure))
    return f"{words} ✗" if limit is not None and limit.met is False else words


def _verdict(word: str) -> Cell:
    looks = {"pass": met(True), "fail": met(False)}
    look = looks.get(word, met(None))
    sign = look.words.partition(" ")[0]
    return Cell(f"{sign} {word}", look.style)


def render(runs: Runs, where: str) -> str:
    """Return the page over runs, the oldest first; `where` names the history."""
    sections = [_section(kind, some) for kind, some in runs.groups().items()]
    kinds = len(sections)
    times = f" · {runs[0].began:%Y-%m-%d} to {runs[-1].began:%Y-%m-%d}" if runs else ""
    return page(
        "History",
        f"history{times}",
        f"{len(runs)} run{'s' * (len(runs) != 1)} of {kinds} kind{'s' * (kinds != 1)}",
        sections,
        say=[_SAY if runs else "There is no run yet."],
        warnings=[STAND_IN] if runs.stand_in else [],
        made_from=f"the history {where}; `brownout history -o FILE.html` makes it again",
    )


def _section(kind: str, runs: Runs) -> Section:
    pictures = [picture for measure in SHOWN if (picture := _picture(measure, runs))]
    passed = sum(run.verdict == "pass" for run in runs)
    say = f"{len(runs)} runs, {passed} passed."
    return Section(kind, [grid(f"Runs of {kind}", runs)], [say], pictures=pictures)


def _picture(measure: str, runs: Runs) -> str:
    """A measure over the runs that have it, each a step; nothing where none has."""
    points = [(run, value) for run in runs if (value := run.value(measure)) is not None]
    if not points:
        return ""
    limits = [limit.limit for run, _ in points if (limit := run.impact.limit(measure))]
    points_in_time = [(n + 0.5, value) for n, (_, value) in enumerate(points) if value < NEVER]
    highest = 1.05 * max([*(value for _, value in points_in_time), *limits[-1:]], default=0.0)
    y = linear(highest, words=lambda value: signed(measure, value))
    x = Axis(0.0, len(points), ())
    plot = Plot(x, y, 560, 240, left=78, right=14, bottom=30, in_page=True)
    chosen = [run for run, _ in points]
    parts = [*_days(plot, chosen), *_releases(plot, chosen)]
    for bound in limits[-1:]:
        edge, words = plot.width - plot.right, f"limit {signed(measure, bound)}"
        parts.append(plot.rule("ink", y=bound, dash=(2, 3)))
        parts.append(plot.text(edge, plot.at_y(bound) - 5, words, anchor="end"))
    parts.append(plot.line(points_in_time, "raw"))
    for n, (run, value) in enumerate(points):
        came = value < NEVER
        form, colour = _FORMS.get(run.verdict, ("open", "unsure")) if came else ("never", "bad")
        words = (
            f"{run.began:%Y-%m-%d %H:%M} UTC: {signed(measure, value)}, {run.verdict}, "
            f"{run.release}, {run.run_id}"
        )
        parts.append(plot.mark(n + 0.5, min(value, y.high), form, colour, words))
    return plot.svg(label(measure), parts)


def _releases(plot: Plot, runs: Sequence[FinishedRun]) -> list[str]:
    """A line before the first run of each release, with its name; names may not overlap."""
    parts, free, last = [], 0.0, ""
    for n, run in enumerate(runs):
        before, last = last, run.release
        if last in ("", before):
            continue
        parts.append(plot.rule("fourth", x=n))
        width = _LETTER * len(last)
        start = min(plot.at_x(n), plot.width - plot.right - width)
        if start >= free:
            parts.append(plot.text(start, plot.top - 8, last, "fourth", bold=True, form="release"))
            free = start + width + 8
    return parts


def _days(plot: Plot, runs: Sequence[FinishedRun]) -> list[str]:
    """The day under its first run, where there is room."""
    parts, free, last = [], 0.0, ""
    for n, run in enumerate(runs):
        day = f"{run.began:%Y-%m-%d}"
        start = min(plot.at_x(n + 0.5) - 4, plot.width - _DAY)
        if day != last and start >= free:
            parts.append(plot.text(start, plot.height - 10, day))
            free, last = start + _DAY, day
    return parts
