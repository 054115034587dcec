"""A figure's data as a table: what a reader without eyes for it, or with a printer, reads."""

import numpy as np

from brownout.show.report.axes import TIME_STEPS
from brownout.show.report.chart import Chart, Floats, Line
from brownout.show.report.grid import Column, Grid

__all__ = ["MOST_ROWS", "data_table"]

#: A table has at most about so many rows; it covers the whole run, closer in what is shown first.
MOST_ROWS = 60


def data_table(chart: Chart) -> Grid:
    """Return the values of `chart`: over time the lowest and highest of each stretch."""
    return _over_time(chart) if chart.kind == "time" else _by_percentile(chart)


def _over_time(chart: Chart) -> Grid:
    edges = _edges(chart)
    lines = [(row.name, line) for row in chart.rows for line in row.lines]
    columns = [Column("from"), Column("to"), *(Column(_name(*pair), "n") for pair in lines)]
    cells = [_ranges(line, edges) for _, line in lines]
    rows = [
        [f"{start:.1f} s", f"{end:.1f} s", *values]
        for start, end, *values in zip(edges[:-1], edges[1:], *cells, strict=True)
    ]
    return Grid(chart.title, columns, rows, "Lowest to highest value within each stretch of time.")


def _edges(chart: Chart) -> Floats:
    """Coarse stretches over the whole run, fine ones where the figure looks first."""
    low, high = chart.view
    coarse = _steps(chart.x.low, chart.x.high)
    if chart.view == (chart.x.low, chart.x.high):
        return coarse
    outside = coarse[(coarse <= low) | (coarse >= high)]
    return np.unique(np.concatenate([outside, _steps(low, high)]))


def _steps(low: float, high: float) -> Floats:
    step = next((s for s in TIME_STEPS if (high - low) / s <= MOST_ROWS / 2), TIME_STEPS[-1])
    inner = np.arange(np.floor(low / step) + 1, np.ceil(high / step)) * step
    return np.round(np.concatenate([[low], inner, [high]]), 1)


def _ranges(line: Line, edges: Floats) -> list[str]:
    """For each stretch `low to high`, one value where they are the same, a dash for none."""
    cells = []
    for first, last in zip(
        *(np.searchsorted(line.x, e) for e in (edges[:-1], edges[1:])), strict=True
    ):
        values = line.y[first:last]
        values = values[~np.isnan(values)]
        cells.append(_range(values, line) if len(values) else "–")
    return cells


def _range(values: Floats, line: Line) -> str:
    low, high = (f"{value:,.{line.digits}f}" for value in (values.min(), values.max()))
    return f"{low}{line.unit}" if low == high else f"{low} to {high}{line.unit}"


def _by_percentile(chart: Chart) -> Grid:
    lines = [line for row in chart.rows for line in row.lines]
    inverses = [1.0, 2.0, *(n * 10.0**d for d in range(1, 7) for n in (1, 2, 5))]
    inverses = [inverse for inverse in inverses if inverse <= chart.x.high]
    rows = [[_percentile(inverse), *(_at(line, inverse) for line in lines)] for inverse in inverses]
    return Grid(
        chart.title, [Column("percentile"), *(Column(line.name, "n") for line in lines)], rows
    )


def _at(line: Line, inverse: float) -> str:
    """The value at a percentile; a dash beyond what so few operations can tell."""
    if not len(line.x) or inverse > line.x[-1] * 1.001:
        return "–"
    place = min(int(np.searchsorted(line.x, inverse * 0.999)), len(line.x) - 1)
    value = line.y[place]
    return "–" if np.isnan(value) else f"{value:,.{line.digits}f}{line.unit}"


def _percentile(inverse: float) -> str:
    return f"{100 * (1 - 1 / inverse):.10g} %"


def _name(row: str, line: Line) -> str:
    return line.name if not row or row == line.name else f"{row}: {line.name}"
