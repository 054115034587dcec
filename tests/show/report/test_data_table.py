"""The table beside a figure holds the lowest and the highest of every stretch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brownout.show.report import axes
from brownout.show.report.chart import Chart, Line, Row
from brownout.show.report.data_table import MOST_ROWS, data_table
from brownout.show.report.grid import Grid


def table_of(values: list[float], view: tuple[float, float] | None = None) -> Grid:
    t = np.arange(len(values)) / 10
    end = len(values) / 10
    line = Line("served", "total", t, np.array(values, dtype=np.float64), digits=1)
    row = Row((line,), axes.linear(100))
    return data_table(Chart("k", "T", "S", (row,), axes.time(0, end), view or (0.0, end)))


def bounds(cell: str) -> tuple[float, float]:
    low, _, high = cell.replace(",", "").partition(" to ")
    return float(low), float(high or low)


@given(st.lists(st.integers(0, 9999), min_size=2, max_size=900))
def test_each_row_holds_the_extremes_of_its_stretch(values: list[int]) -> None:
    grid = table_of([float(value) for value in values])
    assert len(grid.rows) <= MOST_ROWS
    for start, end, cell in grid.rows:
        first, last = (round(10 * float(str(t).removesuffix(" s"))) for t in (start, end))
        inside = values[first:last]
        assert bounds(str(cell)) == (min(inside), max(inside))


def test_stretches_follow_each_other_without_a_gap() -> None:
    rows = table_of([1.0] * 6000, view=(200.0, 230.0)).rows
    assert [row[1] for row in rows[:-1]] == [row[0] for row in rows[1:]]
    assert (rows[0][0], rows[-1][1]) == ("0.0 s", "600.0 s")
    assert ["201.0 s", "202.0 s", "1.0"] in [list(row) for row in rows]


def test_a_stretch_of_gaps_is_a_dash() -> None:
    values = [1.0] * 20 + [float("nan")] * 20
    assert {row[2] for row in table_of(values).rows} == {"1.0", "–"}


def test_percentiles_end_where_there_are_no_more_operations() -> None:
    inverse = 10 ** np.linspace(0, 3, 200)
    line = Line("before", "before", inverse, np.log10(inverse) + 1, unit=" ms", digits=1)
    x = axes.percentiles(10_000)
    chart = Chart("k", "T", "S", (Row((line,), axes.linear(5)),), x, (1, 1e4), kind="percentile")
    rows = {str(row[0]): row[1] for row in data_table(chart).rows}
    assert (rows["0 %"], rows["90 %"], rows["99.9 %"]) == ("1.0 ms", "2.0 ms", "4.0 ms")
    assert rows["99.99 %"] == "–"
