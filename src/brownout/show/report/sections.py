"""One page about several runs: its head, then sections with figures, small pictures and tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from brownout.show.report.chart import Chart
from brownout.show.report.data_table import data_table
from brownout.show.report.draw import draw
from brownout.show.report.grid import Grid
from brownout.show.report.html import fill
from brownout.show.report.page import embedded

__all__ = ["Section", "page"]


@dataclass(frozen=True, slots=True)
class Section:
    """A section: sentences, figures that can be zoomed, small pictures as SVG, tables.

    `small` pictures stand several in a row, to be compared.
    """

    title: str
    grids: Sequence[Grid] = ()
    say: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    missing: Sequence[str] = ()
    pictures: Sequence[str] = ()
    small: bool = False

    @property
    def id(self) -> str:
        """What a link names it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def page(
    title: str,
    eyebrow: str,
    headline: str,
    sections: Sequence[Section],
    *,
    made_from: str,
    say: Iterable[str] = (),
    warnings: Sequence[str] = (),
    deadline: str = "",
    stand_in: bool = False,
) -> str:
    """Return the page as HTML that needs nothing else; raises `Unsupported` without jinja2.

    `made_from` ends its footer's first sentence, `deadline` heads each figure and table, and
    `stand_in` marks them.
    """
    charts = {
        chart.key: draw(chart) | {"table": data_table(chart)}
        for section in sections
        for chart in section.charts
    }
    values = {
        "title": f"{title} · brownout",
        "version": version("brownout"),
        "eyebrow": eyebrow,
        "headline": headline,
        "say": list(say),
        "warnings": warnings,
        "stand_in": stand_in,
        "deadline": deadline,
        "charts": charts,
        "missing": {},
        "sections": sections,
        "footer": f"Made by brownout {version('brownout')} from {made_from}. What every number "
        "means: docs/measures.md.",
        "data": embedded({"charts": {key: each["data"] for key, each in charts.items()}}),
    }
    return fill("sections.html.j2", values)
