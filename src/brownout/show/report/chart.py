"""What a figure is made of, before anything is drawn: lines, strips, shaded spans, pins.

Nothing here knows of files, measures, HTML or colours. `style` names a look that the style sheet
(report.css) and the picture give: a colour and a dash, so that no two lines of one figure differ
by colour alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from brownout.show.report.axes import Axis

__all__ = ["STRIP", "Bracket", "Chart", "Floats", "Level", "Line", "Pin", "Row", "Span"]

Floats = NDArray[np.float64]

#: The height of a plot that is one strip among others.
STRIP = 46


@dataclass(frozen=True, slots=True)
class Line:
    """One series: `y[i]` at `x[i]`; NaN is a gap. `shape` is `line`, `step`, `area` or `dots`.

    `unit` and `digits` word a value under the pointer (`798.0/s`).
    """

    name: str
    style: str
    x: Floats
    y: Floats
    shape: str = "line"
    unit: str = ""
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A dip, from `start` to `end` on the x axis."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Bracket:
    """A measured time, drawn as a bracket above the plot with its label.

    `end` is None where it had not ended when the run did. `style` is `outage` or `recovery`.
    """

    start: float
    end: float | None
    label: str
    style: str


@dataclass(frozen=True, slots=True)
class Pin:
    """An event at `x`: its `number` in the list of events, `kind` (break, mend, milestone …)."""

    x: float
    number: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Level:
    """A value to compare with: the baseline, the deadline; `band` is (low, high)."""

    y: float
    label: str
    style: str = "level"
    band: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One plot of a chart: its lines over the chart's x axis; `height` in pixels of the page."""

    lines: tuple[Line, ...]
    y: Axis
    levels: tuple[Level, ...] = ()
    name: str = ""
    note: str = ""
    height: int = 240


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure: `say` is a sentence on how to read it, `rows` its plots over one x axis.

    `kind` is `time` (x in seconds; zooms with its fellows), or `percentile` (x as 1 ÷ (1 - p)).
    `view` is the part of the x axis that is shown first. In a `named` chart the pins have their
    words beside them.
    """

    key: str
    title: str
    say: str
    rows: tuple[Row, ...]
    x: Axis
    view: tuple[float, float]
    kind: str = "time"
    spans: Sequence[Span] = field(default=())
    pins: Sequence[Pin] = field(default=())
    brackets: Sequence[Bracket] = field(default=())
    named: bool = False
