"""Perseus' definitions against series whose truth is known."""

from brownout.measure.impact import NEVER
from brownout.runs.book.perseus import Perseus, perseus

DUE = 100


def served(*parts: tuple[int, int]) -> list[int]:
    """Seconds as (how many, served in each)."""
    return [each for count, each in parts for _ in range(count)]


def found(series: list[int], effective: float, mended: float | None) -> Perseus:
    return perseus([DUE] * len(series), series, effective, mended)


def test_a_primary_that_is_replaced_costs_its_election_and_nothing_at_its_return() -> None:
    series = served((10, 100), (6, 0), (1, 60), (23, 100))
    assert found(series, 10.0, 30.0) == Perseus(6.0, 1.0, 7.0, 0.0, 0.0, 0.0)


def test_a_third_of_the_load_that_fails_is_partial_until_it_is_served() -> None:
    series = served((10, 100), (5, 67), (25, 100))
    assert found(series, 10.0, 30.0) == Perseus(0.0, 5.0, 5.0, 0.0, 0.0, 0.0)


def test_the_return_of_the_node_has_its_own_figures() -> None:
    series = served((10, 100), (2, 0), (18, 100), (3, 0), (2, 50), (10, 100))
    assert found(series, 10.0, 30.0) == Perseus(2.0, 0.0, 2.0, 3.0, 2.0, 5.0)


def test_what_is_not_steady_before_the_node_returns_never_was() -> None:
    series = served((10, 100), (20, 0), (1, 0), (9, 100))
    assert found(series, 10.0, 30.0) == Perseus(20.0, 0.0, NEVER, 1.0, 0.0, 1.0)


def test_one_good_second_between_bad_ones_is_not_steady() -> None:
    series = served((10, 100), (2, 0), (1, 100), (2, 0), (25, 100))
    assert found(series, 10.0, 30.0) == Perseus(4.0, 0.0, 5.0, 0.0, 0.0, 0.0)


def test_without_a_mend_nothing_is_said_of_a_return() -> None:
    series = served((10, 100), (1, 40), (20, 100))
    assert found(series, 10.0, None) == Perseus(0.0, 1.0, 1.0, None, None, None)
