"""A row of numbers as a row of characters: an outage never looks like a low rate."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brownout.show.live.sparkline import ASCII, BLOCKS, NOTHING, sparkline

POSITIVE = st.floats(min_value=1e-3, max_value=1e6)
#: A busy machine is no fault of these.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_it_rises_with_the_numbers() -> None:
    assert sparkline([0, 100, 200, 400, 800], 800) == "_▂▃▅█"


def test_more_than_the_top_is_the_top() -> None:
    assert sparkline([900], 800) == "█"


@pytest.mark.parametrize("levels", [BLOCKS, ASCII])
@unhurried
@given(values=st.lists(st.floats(min_value=0, max_value=1e6), max_size=50))
def test_each_number_has_one_character_and_only_nothing_looks_like_nothing(
    levels: str, values: list[float]
) -> None:
    drawn = sparkline(values, 1e6, levels)
    assert len(drawn) == len(values)
    assert [c == NOTHING for c in drawn] == [value <= 0 for value in values]


@unhurried
@given(a=POSITIVE, b=POSITIVE, logarithmic=st.sampled_from([None, 0.1]))
def test_a_greater_number_is_never_drawn_lower(
    a: float, b: float, logarithmic: float | None
) -> None:
    low, high = list(sparkline(sorted((a, b)), 1e6, logarithmic=logarithmic))
    assert BLOCKS.index(low) <= BLOCKS.index(high)


def test_response_times_are_drawn_by_decades() -> None:
    drawn = sparkline([0.05, 1, 10, 100, 1000], 1000, logarithmic=0.1)
    assert [BLOCKS.index(c) for c in drawn] == [0, 2, 4, 6, 7]
