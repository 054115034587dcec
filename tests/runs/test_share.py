"""What a few runs say of all runs, held against published intervals."""

import pytest

from brownout.runs.share import excluded_words, share, share_words


@pytest.mark.parametrize(
    ("seen", "runs", "low", "high"),
    [
        (0, 5, 0.0, 1 - 0.05 ** (1 / 5)),
        (5, 5, 0.05 ** (1 / 5), 1.0),
        (0, 59, 0.0, 0.0495),
        (1, 5, 0.0051, 0.7164),  # Clopper and Pearson, 1934
        (2, 5, 0.0527, 0.8534),
        (3, 10, 0.0667, 0.6525),
    ],
)
def test_the_interval_is_the_exact_one(seen: int, runs: int, low: float, high: float) -> None:
    assert share(seen, runs) == pytest.approx((low, high), abs=1e-4)


def test_it_is_said_in_words() -> None:
    assert share_words(0, 5) == "0 of 5 runs; at most 45 % of runs with 95 % confidence"
    assert share_words(5, 5) == "5 of 5 runs; at least 55 % of runs with 95 % confidence"
    assert share_words(2, 5) == "2 of 5 runs; 5 % to 85 % of runs with 95 % confidence"
    assert "in up to 45 % of runs" in excluded_words(5)


def test_more_than_there_are_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="6 of 5"):
        share(6, 5)
