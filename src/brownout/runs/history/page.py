"""The history as one page that needs nothing else: every scenario's measures over its releases."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from brownout.runs.history.store import Kept
from brownout.runs.history.telling import SHOWN, grid, groups, release_of
from brownout.runs.history.trend import Point, svg
from brownout.show.report.html import fill
from brownout.show.report.measured import worded
from brownout.show.report.page import embedded
from brownout.show.report.words import STAND_IN

__all__ = ["render"]

_SAY = (
    "Each run is a step, in the order of time. A dot passed, a cross failed, a ring could not be "
    "judged, a triangle at the upper edge waited for what never came. A dashed line begins a "
    "release: another version of what was tested; dotted is the limit of the latest run.",
)


def render(kept: Sequence[Kept], where: str) -> str:
    """Return the page over runs, the oldest first; `where` names the history."""
    sections = [_section(n, name, runs) for n, (name, runs) in enumerate(groups(kept).items(), 1)]
    values = {
        "title": "History · brownout",
        "version": version("brownout"),
        "eyebrow": _eyebrow(kept),
        "headline": _headline(len(kept), len(sections)),
        "say": _SAY if sections else ("There is no run yet.",),
        "warnings": [STAND_IN] if any(run.stand_in for run in kept) else [],
        "stand_in": False,
        "deadline": "",
        "charts": {},
        "missing": {},
        "sections": sections,
        "footer": f"Made by brownout {version('brownout')} from the history {where}; `brownout "
        "history --html FILE` makes it again. What every number means: docs/measures.md.",
        "data": embedded({"charts": {}}),
    }
    return fill("sections.html.j2", values)


def _section(number: int, name: str, runs: Sequence[Kept]) -> dict[str, Any]:
    trends = [_trend(measure, runs) for measure in SHOWN]
    passed = sum(run.verdict == "pass" for run in runs)
    return {
        "id": f"kind-{number}",
        "title": name,
        "say": [f"{len(runs)} runs, {passed} passed."],
        "charts": [],
        "trends": [each for each in trends if each],
        "grids": [grid(f"Runs of {name}", runs)],
    }


def _trend(measure: str, runs: Sequence[Kept]) -> str:
    """The picture of a measure; nothing where no run has it."""
    key = ("total", measure)
    told = [run for run in runs if key in run.measures]
    points, last = [], ""
    for run in told:
        release = release_of(run)
        value = run.measures[key]
        amount = "never" if value == float("inf") else worded(measure, value)
        words = f"{run.began:%Y-%m-%d %H:%M} UTC: {amount}, {run.verdict}, {release}, {run.run_id}"
        begins = release if release != last else ""
        points.append(Point(value, run.verdict, f"{run.began:%Y-%m-%d}", words, begins))
        last = release
    limits = [run.limits[key][0] for run in told if key in run.limits]
    return svg(measure, points, limits[-1] if limits else None) if points else ""


def _headline(runs: int, kinds: int) -> str:
    return f"{runs} run{'s' * (runs != 1)} of {kinds} kind{'s' * (kinds != 1)}"


def _eyebrow(kept: Sequence[Kept]) -> str:
    if not kept:
        return "history"
    return f"history · {kept[0].began:%Y-%m-%d} to {kept[-1].began:%Y-%m-%d}"
