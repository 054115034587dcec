"""Draw a run as one picture, for chats: the verdict, the figures, throughput and response time.

Drawn by matplotlib, without a screen or a browser, from the same charts as the report.
"""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brownout.base.errors import RunDirectoryError, Unsupported
from brownout.base.extras import how_to_install
from brownout.show.report import story
from brownout.show.report.axes import time
from brownout.show.report.chart import Chart, Line, Row
from brownout.show.report.draw import WIDE_PIN, extent, pin_rows
from brownout.show.report.figures import latency, throughput
from brownout.show.report.material import Material
from brownout.show.report.page import deadline_words, eyebrow
from brownout.show.report.palette import LIGHT, LOOKS
from brownout.show.report.reader import read
from brownout.show.report.thin import thin
from brownout.show.report.tiles import tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["write_png"]

SIZE_INCHES, DOTS_PER_INCH = (12.0, 9.2), 130
#: So many of the usual size go into the picture's width.
LETTERS = 145
VERDICT_COLOURS = {"pass": "good", "fail": "bad", "inconclusive": "unsure", "aborted": "quiet"}
PIN_COLOURS = {"break": "bad", "mend": "good", "milestone": "fourth", "abort": "unsure"}
BRACKET_COLOURS = {"outage": "bad", "recovery": "link"}
#: The height of a row of events or of a bracket above the plot, as a share of the plot's.
ROW = 0.085
STEMS = {"break": "-", "mend": "--", "milestone": ":", "abort": "-."}
#: So many letters of a tile's name go into a line across the picture.
_LETTERS = 160


def write_png(run: Path, target: Path) -> Path:
    """Draw the run in `run` as a picture in `target` and return its path.

    Raises `Unsupported` where matplotlib is not installed, `RunDirectoryError` if `run` is not
    a run directory or the picture cannot be written.
    """
    figure = _draw(read(run))
    try:
        figure.savefig(target, dpi=DOTS_PER_INCH, format="png", facecolor=LIGHT["page"])
    except OSError as error:
        raise RunDirectoryError(f"{target}: cannot be written: {error.strerror}") from error
    return target


def _draw(material: Material) -> "Figure":
    figure = _new_figure()
    _head(figure, material)
    _tiles(figure, material)
    _charts(figure, material)
    return figure


def _new_figure() -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise Unsupported(
            "a picture needs matplotlib, which is not installed",
            how_to_install("picture"),
        ) from error
    return Figure(figsize=SIZE_INCHES)


def _head(figure: "Figure", material: Material) -> None:
    """Verdict, headline, circumstances."""
    verdict = material.impact.verdict
    sign, _ = story.VERDICTS[verdict]
    stand_in = "STAND-IN · " if material.stand_in else ""
    words = stand_in + eyebrow(material)
    size = min(9.5, 9.5 * LETTERS / len(words))
    figure.text(0.03, 0.965, words, size=size, color=LIGHT["quiet"], va="top")
    ground = {"facecolor": LIGHT[VERDICT_COLOURS[verdict]], "edgecolor": "none"}
    badge = figure.text(
        0.035, 0.9, f"{sign} {verdict.upper()}", size=17, weight="bold", color=LIGHT["page"],
        va="center", bbox={"boxstyle": "round,pad=0.4", **ground},
    )  # fmt: skip
    right = badge.get_window_extent().x1 / figure.bbox.width
    headline = textwrap.fill(story.headline(material.impact), int(108 * (1 - right)))
    figure.text(right + 0.03, 0.9, headline, size=13.5, weight="bold", color=LIGHT["ink"],
                va="center")  # fmt: skip


def _tiles(figure: "Figure", material: Material) -> None:
    """The figures of the report's first screen, side by side."""
    shown = tiles(material.impact)
    width = 0.94 / max(1, len(shown))
    for number, tile in enumerate(shown):
        x = 0.03 + number * width
        name = textwrap.fill(tile.name, int(_LETTERS * width))
        figure.text(x, 0.815, name, size=9, color=LIGHT["quiet"], va="bottom")
        figure.text(x, 0.808, tile.value, size=15, weight="bold", color=LIGHT["ink"], va="top")
        met = f"  {tile.met.words}" if tile.met else ""
        colour = {"met yes": "good", "met no": "bad"}.get(
            tile.met.style if tile.met else "", "quiet"
        )
        figure.text(x, 0.775, tile.limit + met, size=9, color=LIGHT[colour], va="top")
        figure.text(x, 0.756, tile.apart, size=8, color=LIGHT["quiet"], va="top")


def _charts(figure: "Figure", material: Material) -> None:
    """Throughput above, response time of reads and of writes below; what there is of them."""
    wide = throughput.total(material)
    narrow = latency.over_time(material)
    grid = figure.add_gridspec(
        2, max(1, len(narrow)), left=0.065, right=0.975, top=0.60, bottom=0.075, hspace=0.52,
        wspace=0.16, height_ratios=(1.15, 1),
    )  # fmt: skip
    if wide is None:
        reason = material.missing.get("series", "There is no series to draw.")
        figure.text(0.5, 0.4, reason, size=11, color=LIGHT["quiet"], ha="center", wrap=True)
        return
    _chart(figure.add_subplot(grid[0, :]), wide, material, pins=True)
    for column, chart in enumerate(narrow):
        _chart(figure.add_subplot(grid[1, column]), chart, material, pins=False)


def _chart(axes: "Axes", chart: Chart, material: Material, pins: bool) -> None:
    row = chart.rows[0]
    tag = " · stand-in" if material.stand_in else ""
    axes.set_title(f"{chart.title} · {deadline_words(material)}{tag}", loc="left", size=10.5,
                   pad=_above(chart) if pins else 6, color=LIGHT["ink"], weight="bold")  # fmt: skip
    for span in chart.spans:
        axes.axvspan(span.start, span.end, color=LIGHT["dip"], lw=0)
    for level in row.levels:
        axes.axhline(level.y, color=LIGHT["quiet"], lw=0.9, ls=(0, (6, 4)))
        axes.annotate(level.label, (0.995, level.y), xycoords=("axes fraction", "data"), size=8,
                      ha="right", va="bottom", color=LIGHT["quiet"])  # fmt: skip
    for line in row.lines:
        _line(axes, line)
    _frame(axes, chart, row)
    _pins(axes, chart, pins)
    if pins:
        _brackets(axes, chart)
    _legend(axes, row)


def _above(chart: Chart) -> float:
    """How many points of height the brackets and the rows of events take."""
    low, high = chart.view
    seen = [n for n, pin in enumerate(chart.pins) if low <= pin.x <= high]
    rows = max(pin_rows([extent(chart, n, WIDE_PIN) for n in seen]), default=-1) + 1
    return 6 + 14 * (rows + len(chart.brackets))


def _legend(axes: "Axes", row: Row) -> None:
    """Beneath the axis: above it are the title and the events' numbers."""
    axes.legend(loc="upper right", bbox_to_anchor=(1, -0.1), fontsize=8, frameon=False,
                ncols=len(row.lines), borderaxespad=0)  # fmt: skip


def _line(axes: "Axes", line: Line) -> None:
    look = LOOKS[line.style]
    chosen = thin(line.y)
    style: dict[str, Any] = {"color": LIGHT[look.colour], "lw": 0.75 * look.width}
    if line.shape == "dots":
        style |= {"ls": "none", "marker": ".", "ms": 2.5}
    elif look.dash:
        style["ls"] = (0, tuple(0.75 * n for n in look.dash))
    if line.shape == "step":
        style["drawstyle"] = "steps-post"
    axes.plot(line.x[chosen], line.y[chosen], label=line.name, **style)


def _frame(axes: "Axes", chart: Chart, row: Row) -> None:
    axes.set_xlim(*chart.view)
    if row.y.log:
        axes.set_yscale("log")
    axes.set_ylim(row.y.low, row.y.high)
    axes.set_yticks(*row.y.labels)
    axes.set_xticks(*time(*chart.view).labels)
    axes.minorticks_off()
    axes.tick_params(labelsize=8, colors=LIGHT["quiet"], length=3)
    axes.grid(axis="y", color=LIGHT["grid"], lw=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _pins(axes: "Axes", chart: Chart, named: bool) -> None:
    """The events, a line each; where they are `named` with their numbers and words above."""
    low, high = chart.view
    seen = [n for n, pin in enumerate(chart.pins) if low <= pin.x <= high]
    for n in seen:
        pin = chart.pins[n]
        axes.axvline(pin.x, color=LIGHT[PIN_COLOURS[pin.kind]], lw=1.1, ls=STEMS[pin.kind])
    if not named:
        return
    extents = [extent(chart, n, WIDE_PIN) for n in seen]
    above = len(chart.brackets)
    for n, place, row in zip(seen, extents, pin_rows(extents), strict=True):
        pin = chart.pins[n]
        left = sum(place) / 2 < (pin.x - low) / (high - low)
        axes.annotate(f"{pin.number} {pin.label}", (pin.x, 1.02 + ROW * (above + row)), size=8,
                      xycoords=("data", "axes fraction"), ha="right" if left else "left",
                      va="bottom", annotation_clip=False, weight="bold",
                      color=LIGHT[PIN_COLOURS[pin.kind]])  # fmt: skip


def _brackets(axes: "Axes", chart: Chart) -> None:
    """Outage and recovery as brackets above the plot, each in a row with its words."""
    low, high = chart.view
    for row, bracket in enumerate(reversed(chart.brackets)):
        start, end = max(low, bracket.start), min(high, bracket.end or high)
        if end <= start:
            continue
        y, colour = 1.045 + ROW * row, LIGHT[BRACKET_COLOURS[bracket.style]]
        across: dict[str, Any] = {
            "transform": axes.get_xaxis_transform(),
            "clip_on": False,
            "color": colour,
        }
        axes.plot([start, start, end, end], [y - 0.025, y, y, y - 0.025], lw=1.6, **across)
        axes.text(end + 0.006 * (high - low), y, bracket.label, size=8.5, weight="bold",
                  va="center", **across)  # fmt: skip
