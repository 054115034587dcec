"""Rows of words stand in columns."""

from brownout.base.columns import aligned


def test_cells_of_a_column_begin_at_one_place() -> None:
    assert aligned([("measure", "value"), ("blackout", "2.1 s"), ("p99", "")]) == [
        "measure   value",
        "blackout  2.1 s",
        "p99",
    ]


def test_numbers_end_at_one_place() -> None:
    assert aligned([("n", "name"), ("12", "a")], right=[0]) == [" n  name", "12  a"]


def test_a_character_as_wide_as_two_counts_as_two() -> None:
    assert aligned([("数据库", "x"), ("ab", "y")]) == ["数据库  x", "ab      y"]


def test_no_rows_are_no_lines() -> None:
    assert aligned([]) == []
