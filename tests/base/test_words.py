"""Durations in words."""

import pytest

from brownout.base.words import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.0021, "2.1 ms"),
        (0.354, "0.35 s"),
        (15.24, "15.2 s"),
        (120, "2 min 0 s"),
        (179.7, "3 min 0 s"),
        (6659.6, "111 min 0 s"),
        (7199.9, "120 min 0 s"),
        (7200, "2 h 0 min"),
        (33_959, "9 h 26 min"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units_and_never_as_60_of_one(
    seconds: float, words: str
) -> None:
    assert duration(seconds) == words
