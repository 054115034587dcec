"""Turn a chart into what the page is made of: SVG paths, tick labels, the data under the pointer.

The plots are drawn in a box that the browser stretches to any width (`preserveAspectRatio: none`,
strokes keep their width), and every word stands beside it as HTML. So one drawing serves a phone,
a wide screen and paper without a script, and zooming is a change of the `viewBox`.

    x: time in tenths of a second, or 1000 log10(1 ÷ (1 - p)), as whole numbers
    y: 0 at the top to 1000 at the bottom
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brownout.show.report.axes import Axis, Tick, time
from brownout.show.report.chart import STRIP, Bracket, Chart, Floats, Line, Row
from brownout.show.report.thin import keep_windows, thin

__all__ = ["WIDE_PIN", "draw", "extent", "pin_rows"]

HEIGHT = 1000
PER_SECOND = 10
PER_DECADE = 1000

#: How wide a pin is as a share of the plot's width: on a screen where that is some 900 pixels, and
#: on a phone where it is some 290. A letter of a pin's name is so wide.
WIDE_PIN, NARROW_PIN, LETTER = 0.026, 0.08, 0.0075
#: A label beyond this share of the width would stand out of the plot; it is drawn to the left.
LAST_TICK = 0.96
#: Beyond this share of the width the name of a pin stands to its left.
NAME_LEFT = 0.8

Ints = NDArray[np.int64]


def draw(chart: Chart) -> dict[str, Any]:
    """Return everything the template needs of `chart`; `data` goes into the page as JSON."""
    drawn = [_row(chart, row) for row in chart.rows]
    pins = _pins(chart)
    return {
        "chart": chart,
        "legend": _legend(chart),
        "rows": [row for row, _ in drawn],
        "xticks": _xticks(chart),
        "spans": [_span(chart, span) for span in chart.spans],
        "pins": pins,
        "pin_rows": [
            max((p[s] + 1 for p in pins if not p["outside"]), default=0) for s in ("wide", "narrow")
        ],
        "brackets": [_bracket(chart, bracket) for bracket in chart.brackets],
        "data": {
            "kind": chart.kind,
            "view": [float(_x(chart, np.array([edge]))[0]) for edge in chart.view],
            "whole": [
                float(_x(chart, np.array([edge]))[0]) for edge in (chart.x.low, chart.x.high)
            ],
            "rows": [data for _, data in drawn],
        },
    }


def pin_rows(places: Sequence[tuple[float, float]]) -> list[int]:
    """Return the row of each pin so that none overlap.

    `places` are each pin's beginning and end as shares of the plot's width; they ascend.
    """
    taken: list[float] = []
    rows = []
    for start, end in places:
        row = next((n for n, until in enumerate(taken) if start >= until), len(taken))
        taken[row : row + 1] = [end]
        rows.append(row)
    return rows


def _x(chart: Chart, values: Floats) -> Floats:
    """The `values` of the x axis in the drawing's units."""
    if chart.kind == "time":
        units = values * PER_SECOND
    else:
        units = np.log10(np.maximum(values, 1.0)) * PER_DECADE
    return np.asarray(np.rint(units), dtype=np.float64)


def _y(axis: Axis, values: Floats) -> Floats:
    """The `values` of a y axis in the drawing's units; NaN stays NaN."""
    if axis.log:
        low, high = math.log10(axis.low), math.log10(axis.high)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (np.log10(np.maximum(values, axis.low)) - low) / (high - low)
    else:
        share = (values - axis.low) / (axis.high - axis.low)
    return np.rint(HEIGHT * (1 - np.clip(share, 0, 1)))


def _row(chart: Chart, row: Row) -> tuple[dict[str, Any], dict[str, Any]]:
    """One plot for the template, and its values for the pointer."""
    start, end = (float(edge) for edge in _x(chart, np.array(chart.view)))
    drawn = [_line(chart, row, line) for line in row.lines]
    picture = {
        "row": row,
        "viewbox": f"{start:.0f} 0 {max(1.0, end - start):.0f} {HEIGHT}",
        "paths": [path for path, _ in drawn],
        "grid": [round(HEIGHT * (1 - tick.position)) for tick in row.y.ticks],
        "yticks": _yticks(row),
        "levels": [_level(row, level) for level in row.levels],
    }
    return picture, {"name": row.name, "lines": [values for _, values in drawn]}


def _line(chart: Chart, row: Row, line: Line) -> tuple[dict[str, str], dict[str, Any]]:
    keep = None
    if chart.kind == "time" and chart.view != (chart.x.low, chart.x.high):
        keep = keep_windows(line.x, [chart.view])
    chosen = thin(line.y, keep=keep)
    x, y = line.x[chosen], line.y[chosen]
    path = _path(_x(chart, x), _y(row.y, y), line.shape)
    values = {
        "name": line.name,
        "style": line.style,
        "unit": line.unit,
        "digits": line.digits,
        "x": _compact(_x(chart, x)),
        "y": [None if math.isnan(v) else round(v, line.digits) for v in y.tolist()],
    }
    return {"style": line.style, "shape": line.shape, "d": path}, values


def _compact(x: Floats) -> dict[str, Any]:
    """Ascending whole numbers as `start` and what each is more than the one before.

    Even spaces are told once: `{"start": 0, "step": 1, "n": 600}`, else `{"start": 0, "steps": …}`.
    """
    whole = x.astype(np.int64)
    steps = np.diff(whole)
    start = int(whole[0]) if len(whole) else 0
    if len(steps) and (steps == steps[0]).all():
        return {"start": start, "step": int(steps[0]), "n": len(whole)}
    return {"start": start, "steps": steps.tolist(), "n": len(whole)}


def _path(x: Floats, y: Floats, shape: str) -> str:
    """The `d` of an SVG path in whole numbers; a gap in `y` begins a new stretch."""
    there = ~np.isnan(y)
    if not there.any():
        return ""
    edges = np.flatnonzero(np.diff(there.astype(np.int8))) + 1
    stretches = np.split(np.arange(len(y)), edges)
    draw_one = {"area": _area, "dots": _dots, "step": _steps}.get(shape, _polyline)
    return "".join(
        draw_one(x[part].astype(np.int64), y[part].astype(np.int64))
        for part in stretches
        if there[part[0]]
    )


def _polyline(x: Ints, y: Ints) -> str:
    """`M x y l dx dy …`; a lone point becomes a dot."""
    if len(x) == 1:
        return f"M{x[0]} {y[0]}h0"
    return f"M{x[0]} {y[0]}l{_pairs(np.diff(x), np.diff(y))}"


def _steps(x: Ints, y: Ints) -> str:
    """Each value holds until the next, the last for one bucket."""
    corners_x = np.append(np.repeat(x, 2)[1:], x[-1] + 1)
    return _polyline(corners_x, np.repeat(y, 2))


def _area(x: Ints, y: Ints) -> str:
    """Steps, filled down to zero."""
    corners_x = np.append(np.repeat(x, 2)[1:], x[-1] + 1)
    return f"{_polyline(corners_x, np.repeat(y, 2))}V{HEIGHT}H{x[0]}Z"


def _dots(x: Ints, y: Ints) -> str:
    """A dot at each point: a stroke of no length with a round end keeps its size when stretched."""
    return "".join(f"M{a} {b}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _pairs(dx: Ints, dy: Ints) -> str:
    return " ".join(map(str, np.column_stack([dx, dy]).ravel().tolist()))


def _tick(tick: Tick, reverse: bool = False) -> dict[str, Any]:
    place = 1 - tick.position if reverse else tick.position
    return {"place": f"{100 * place:.3f}%", "label": tick.label, "minor": tick.minor,
            "last": tick.position > LAST_TICK}  # fmt: skip


def _yticks(row: Row) -> list[dict[str, Any]]:
    """The ticks of a plot; of a strip only the lowest and the highest have room."""
    ticks = row.y.ticks if row.height > STRIP else (row.y.ticks[0], row.y.ticks[-1])
    drawn = [_tick(tick, reverse=True) for tick in ticks]
    for tick in (drawn[0], drawn[-1]):
        tick["minor"] = False
    return drawn


def _xticks(chart: Chart) -> list[dict[str, Any]]:
    axis = time(*chart.view) if chart.kind == "time" else chart.x
    return [_tick(tick) for tick in axis.ticks]


def _level(row: Row, level: Any) -> dict[str, Any]:
    ends = level.band or (level.y, level.y)
    low, high = (float(_y(row.y, np.array([edge]))[0]) for edge in ends)
    y = float(_y(row.y, np.array([level.y]))[0])
    return {"level": level, "y": round(y), "top": round(high), "height": round(low - high),
            "place": f"{100 * y / HEIGHT:.3f}%"}  # fmt: skip


def _span(chart: Chart, span: Any) -> dict[str, Any]:
    start, end = (float(v) for v in _x(chart, np.array([span.start, span.end])))
    return {"span": span, "x": round(start), "width": max(1, round(end - start))}


def _bracket(chart: Chart, bracket: Bracket) -> dict[str, Any]:
    """A bracket with its places; one without an end reaches to the end of the run."""
    start, end = chart.view
    last = chart.x.high if bracket.end is None else bracket.end
    places = [(edge - start) / (end - start) for edge in (bracket.start, last)]
    return {
        "bracket": bracket,
        "from": round(bracket.start * PER_SECOND, 2),
        "to": round(last * PER_SECOND, 2),
        "left": f"{100 * max(0.0, places[0]):.3f}%",
        "width": f"{100 * (min(1.0, places[1]) - max(0.0, places[0])):.3f}%",
        "outside": places[1] < 0 or places[0] > 1,
    }


def _pins(chart: Chart) -> list[dict[str, Any]]:
    """Every pin with its place, and the row it stands in on a wide and on a narrow screen."""
    start, end = chart.view
    places = [(pin.x - start) / (end - start) for pin in chart.pins]
    seen = [n for n, place in enumerate(places) if 0 <= place <= 1]
    wide, narrow = (
        dict(zip(seen, pin_rows([extent(chart, n, width) for n in seen]), strict=True))
        for width in (WIDE_PIN, NARROW_PIN)
    )
    return [
        {
            "pin": pin,
            "place": f"{100 * place:.3f}%",
            "x": round(pin.x * PER_SECOND),
            "wide": wide.get(n, 0),
            "narrow": narrow.get(n, 0),
            "outside": n not in wide,
            "left": place > NAME_LEFT,
        }
        for n, (pin, place) in enumerate(zip(chart.pins, places, strict=True))
    ]


def extent(chart: Chart, number: int, width: float) -> tuple[float, float]:
    """Return from where to where a pin and its name reach, as shares of the plot's width."""
    start, end = chart.view
    pin = chart.pins[number]
    place = (pin.x - start) / (end - start)
    name = LETTER * len(pin.label) if chart.named and width == WIDE_PIN else 0.0
    before, after = (name, 0.0) if place > NAME_LEFT else (0.0, name)
    return place - width / 2 - before, place + width / 2 + after


def _legend(chart: Chart) -> list[dict[str, str]]:
    """Each look once, in the order of the lines; a row of one line is named already."""
    seen: dict[str, dict[str, str]] = {}
    for row in chart.rows:
        for line in row.lines if not row.name or len(row.lines) > 1 else ():
            entry = {"name": line.name, "style": line.style, "shape": line.shape}
            seen.setdefault(f"{line.style} {line.name}", entry)
    return list(seen.values())
