"""Perseus' definitions against series whose truth is known."""

from brownout.measure.impact import NEVER
from brownout.runs.book.perseus import Perseus, perseus

DUE = 10


def served(*parts: tuple[int, int]) -> list[int]:
    """Buckets as (how many seconds, served in each bucket)."""
    return [each for seconds, each in parts for _ in range(10 * seconds)]


def found(series: list[int], effective: float, mended: float | None) -> Perseus:
    return perseus([DUE] * len(series), series, series, effective, mended)


def test_a_primary_that_is_replaced_costs_its_election_and_nothing_at_its_return() -> None:
    series = served((10, 10), (6, 0), (1, 6), (23, 10))
    assert found(series, 10.0, 30.0) == Perseus(6.0, 1.0, 7.0, 0.0, 0.0, 0.0)


def test_seconds_are_counted_from_the_fault_whenever_it_was() -> None:
    series = [10] * 7 + served((10, 10), (6, 0), (1, 6), (23, 10))
    assert found(series, 10.7, 30.7) == Perseus(6.0, 1.0, 7.0, 0.0, 0.0, 0.0)


def test_a_third_of_the_load_that_fails_is_partial_until_it_is_served() -> None:
    series = served((10, 10), (5, 7), (25, 10))
    assert found(series, 10.0, 30.0) == Perseus(0.0, 5.0, 5.0, 0.0, 0.0, 0.0)


def test_what_is_due_in_an_outage_and_served_after_it_leaves_the_outage_down() -> None:
    answered = served((10, 10), (2, 0), (1, 20), (17, 10))
    in_time = served((10, 10), (1, 0), (19, 10))
    out = perseus([DUE] * len(answered), in_time, answered, 10.0, 25.0)
    assert out == Perseus(2.0, 0.0, 2.0, 0.0, 0.0, 0.0)


def test_the_return_of_the_node_has_its_own_figures() -> None:
    series = served((10, 10), (2, 0), (18, 10), (3, 0), (2, 5), (10, 10))
    assert found(series, 10.0, 30.0) == Perseus(2.0, 0.0, 2.0, 3.0, 2.0, 5.0)


def test_what_is_not_steady_before_the_node_returns_never_was() -> None:
    series = served((10, 10), (20, 0), (1, 0), (9, 10))
    assert found(series, 10.0, 30.0) == Perseus(20.0, 0.0, NEVER, 1.0, 0.0, 1.0)


def test_a_return_that_is_soon_cuts_the_steady_seconds_short() -> None:
    series = served((10, 10), (3, 0), (27, 10))
    assert found(series, 10.0, 14.0) == Perseus(3.0, 0.0, 3.0, 0.0, 0.0, 0.0)


def test_one_good_second_between_bad_ones_is_not_steady() -> None:
    series = served((10, 10), (2, 0), (1, 10), (2, 0), (25, 10))
    assert found(series, 10.0, 30.0) == Perseus(4.0, 0.0, 5.0, 0.0, 0.0, 0.0)


def test_without_a_mend_nothing_is_said_of_a_return() -> None:
    series = served((10, 10), (1, 4), (20, 10))
    assert found(series, 10.0, None) == Perseus(0.0, 1.0, 1.0, None, None, None)
