"""Charts become paths in whole numbers, with the values that the pointer reads."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.show.report import axes
from brownout.show.report.chart import Bracket, Chart, Level, Line, Pin, Row, Span
from brownout.show.report.draw import WIDE_PIN, draw, extent, pin_rows


def chart_of(*lines: Line, end: float = 1.0, pins: tuple[Pin, ...] = ()) -> Chart:
    row = Row(tuple(lines), axes.linear(100.0), (Level(50.0, "half", band=(40.0, 60.0)),))
    return Chart("k", "Title", "Say.", (row,), axes.time(0.0, end), (0.0, end),
                 spans=[Span(0.2, 0.4)], pins=pins)  # fmt: skip


def points(path: str) -> list[tuple[int, int]]:
    """The corners of a path of one stretch, `M x y l dx dy …`."""
    numbers = [int(n) for n in re.findall(r"-?\d+", path)]
    steps = np.array(numbers).reshape(-1, 2).cumsum(axis=0)
    return [(int(x), int(y)) for x, y in steps]


def test_line_goes_through_its_values() -> None:
    line = Line("a", "total", np.arange(4) / 10, np.array([0.0, 100.0, 25.0, 50.0]))
    drawn = draw(chart_of(line))
    path = drawn["rows"][0]["paths"][0]["d"]
    assert points(path) == [(0, 1000), (1, 0), (2, 750), (3, 500)]
    assert drawn["data"]["rows"][0]["lines"][0]["y"] == [0, 100, 25, 50]


def test_gap_in_the_values_is_a_gap_in_the_line() -> None:
    values = np.array([1.0, 2.0, np.nan, 3.0])
    drawn = draw(chart_of(Line("a", "total", np.arange(4) / 10, values)))
    assert drawn["rows"][0]["paths"][0]["d"].count("M") == 2
    assert drawn["data"]["rows"][0]["lines"][0]["y"] == [1, 2, None, 3]


def test_value_beyond_the_axis_is_drawn_at_its_edge_and_told_as_it_is() -> None:
    drawn = draw(chart_of(Line("a", "total", np.arange(2) / 10, np.array([400.0, 100.0]))))
    assert points(drawn["rows"][0]["paths"][0]["d"]) == [(0, 0), (1, 0)]
    assert drawn["data"]["rows"][0]["lines"][0]["y"] == [400, 100]


def test_even_times_are_told_in_three_numbers() -> None:
    drawn = draw(chart_of(Line("a", "total", np.arange(500) / 10, np.ones(500)), end=50.0))
    assert drawn["data"]["rows"][0]["lines"][0]["x"] == {"start": 0, "step": 1, "n": 500}


def test_spans_and_levels_stand_where_they_belong() -> None:
    drawn = draw(chart_of(Line("a", "total", np.arange(4) / 10, np.ones(4))))
    assert [(span["x"], span["width"]) for span in drawn["spans"]] == [(2, 2)]
    level = drawn["rows"][0]["levels"][0]
    assert (level["y"], level["top"], level["height"]) == (500, 400, 200)


def test_pins_outside_of_the_view_are_hidden() -> None:
    pins = (Pin(0.5, 1, "break", "inside"), Pin(5.0, 2, "mend", "outside"))
    drawn = draw(chart_of(Line("a", "total", np.arange(4) / 10, np.ones(4)), pins=pins))
    assert [pin["outside"] for pin in drawn["pins"]] == [False, True]
    assert drawn["pin_rows"] == [1, 1]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.4)), max_size=30).map(sorted))
def test_pins_of_one_row_never_overlap(drawn: list[tuple[float, float]]) -> None:
    places = [(start, start + length) for start, length in drawn]
    rows = pin_rows(places)
    for row in set(rows):
        inside = [place for place, other in zip(places, rows, strict=True) if other == row]
        assert all(before[1] <= after[0] for before, after in pairwise(inside))


def test_a_pin_is_as_wide_as_its_name_where_it_is_named() -> None:
    line = Line("a", "total", np.arange(4) / 10, np.ones(4))
    pins = (Pin(0.2, 1, "break", "n1 killed"), Pin(0.9, 2, "mend", "n1 started"))
    bare = chart_of(line, pins=pins)
    named = replace(bare, named=True)
    assert extent(bare, 0, WIDE_PIN) == pytest.approx((0.187, 0.213))
    assert extent(named, 0, WIDE_PIN)[1] > 0.25  # to the right
    assert extent(named, 1, WIDE_PIN)[0] < 0.85  # to the left, or it would leave the plot
    assert [pin["left"] for pin in draw(named)["pins"]] == [False, True]


def test_a_bracket_stands_from_when_to_when_it_was_measured() -> None:
    line = Line("a", "total", np.arange(4) / 10, np.ones(4))
    brackets = (
        Bracket(0.25, 0.75, "outage 0.5 s", "outage"),
        Bracket(0.5, None, "not recovered", "recovery"),
        Bracket(3.0, 4.0, "outage 1 s", "outage"),
    )
    drawn = draw(replace(chart_of(line, end=5.0), view=(0.0, 1.0), brackets=brackets))["brackets"]
    assert [(one["from"], one["to"]) for one in drawn] == [(2.5, 7.5), (5.0, 50.0), (30.0, 40.0)]
    assert (drawn[0]["left"], drawn[0]["width"]) == ("25.000%", "50.000%")
    assert (drawn[1]["left"], drawn[1]["width"]) == ("50.000%", "50.000%")
    assert [one["outside"] for one in drawn] == [False, False, True]


def test_lines_of_one_named_row_each_need_no_legend() -> None:
    line = Line("a", "cause", np.arange(2) / 10, np.ones(2))
    row = Row((line,), axes.linear(1.0), name="a")
    chart = Chart("k", "Title", "Say.", (row, row), axes.time(0, 1), (0.0, 1.0))
    assert draw(chart)["legend"] == []
