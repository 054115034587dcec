"""A comparison as one page, as text and as JSON data."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from brownout.base.words import duration
from brownout.runs.compare.aligned import aligned
from brownout.runs.compare.systems import System
from brownout.runs.compare.tables import grids
from brownout.show.report.draw import draw
from brownout.show.report.grid import Grid
from brownout.show.report.html import fill
from brownout.show.report.page import embedded
from brownout.show.report.sampled import data_table

__all__ = ["as_document", "render", "say"]


def say(systems: Sequence[System], notes: Sequence[str]) -> str:
    """Return the tables for a terminal."""
    from brownout.show.report.grid_text import plain

    told = [f"note: {note}" for note in notes]
    return "\n\n".join(filter(None, [*map(plain, grids(systems)), "\n".join(told)]))


def render(systems: Sequence[System], warnings: Sequence[str], notes: Sequence[str]) -> str:
    """Return the page; `warnings` say what is mixed, `notes` what else differs."""
    chart = aligned(systems)
    drawn = {"aligned": draw(chart) | {"table": data_table(chart)}} if chart else {}
    tables = grids(systems)
    scenario = systems[0].subject["scenario"]
    names = ", ".join(system.name for system in systems)
    return fill("sections.html.j2", {
        "title": f"{scenario} compared · brownout",
        "version": version("brownout"),
        "eyebrow": f"comparison · {scenario} · {_deadlines(systems)}",
        "headline": f"{scenario} on {len(systems)} systems",
        "say": [f"{names}.", *notes],
        "warnings": [f"Mixed: {warning}." for warning in warnings],
        "stand_in": all(system.stand_in for system in systems),
        "deadline": _deadlines(systems),
        "charts": drawn,
        "missing": {"aligned": "No run has a fault that took effect, so nothing is drawn."},
        "sections": [_section(grid, ["aligned"] if n == 1 else [])
                     for n, grid in enumerate(tables)],
        "footer": f"Made by brownout {version('brownout')} from "
        + ", ".join(run.run_id for system in systems for run in system.runs)
        + ". What every number means: docs/measures.md.",
        "data": embedded({"charts": {key: each["data"] for key, each in drawn.items()}}),
    })  # fmt: skip


def as_document(systems: Sequence[System], notes: Sequence[str]) -> dict[str, Any]:
    """Return the tables as JSON data, in words."""
    return {
        "schema_version": 1,
        "systems": {s.name: [run.run_id for run in s.runs] for s in systems},
        "notes": list(notes),
        "tables": {
            grid.caption: [
                {c.name: cell.words for c, cell in zip(grid.columns, row, strict=True)}
                for row in grid.styled()
            ]
            for grid in grids(systems)
        },
    }


def _section(grid: Grid, charts: list[str]) -> dict[str, Any]:
    name = grid.caption
    return {"id": name.lower().replace(" ", "-"), "title": name, "say": [], "charts": charts,
            "trends": [], "grids": [grid]}  # fmt: skip


def _deadlines(systems: Sequence[System]) -> str:
    found = {system.subject["deadline_s"] for system in systems}
    known = ", ".join(sorted(duration(float(each)) for each in found if each is not None))
    return f"deadline {known or 'not known'}"
